// Secrets: the document itself writes them into its field, so that no other document can be meant, and remembers where.

const secretFields = [];

const fillSecret = (element, request) => {
  // Of this world and no string of the page's: a sandboxed frame is "null".
  if (!request.origins.includes(self.origin)) return failed('origin', { final: true, message: self.origin });
  const takes = (element.localName === 'input' && TYPED.has(element.type)) || element.localName === 'textarea';
  if (!takes) return failed('fillable', { final: true, message: `${describe(element)} takes no secret: it has to be a field for text` });
  const focused = select(element, () => element.select());
  if (focused.failed) return focused;
  secretFields.push(new WeakRef(element));
  if (!document.execCommand('insertText', false, request.text)) {
    element.value = request.text;
    announce(element);
  }
  return { how: 'set' };
};

// Where they stand, in this frame's viewport.
const secretBoxes = () => secretFields.map(field => field.deref())
  .filter(field => field && field.isConnected && isVisible(field))
  .map(field => field.getBoundingClientRect().toJSON());
