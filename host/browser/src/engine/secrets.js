// Secrets: the document itself writes them into its field, so that no other document can be meant, and remembers where.

const secretFields = [];
const secretTexts = new Set();

const fillSecret = (element, request) => {
  // Of this world and no string of the page's: a sandboxed frame is "null".
  if (!request.origins.includes(self.origin)) return failed('origin', { final: true, message: self.origin });
  const takes = (element.localName === 'input' && TYPED.has(element.type)) || element.localName === 'textarea';
  if (!takes) return failed('fillable', { final: true, message: `${describe(element)} takes no secret: it has to be a field for text` });
  const focused = select(element, () => element.select());
  if (focused.failed) return focused;
  secretFields.push(new WeakRef(element));
  if (request.text) secretTexts.add(request.text);
  if (!document.execCommand('insertText', false, request.text)) {
    element.value = request.text;
    announce(element);
  }
  return { how: 'set' };
};

// A form answers for its properties with its fields of that name.
const attributesOf = Object.getOwnPropertyDescriptor(Element.prototype, 'attributes').get;

// What shows a secret: its field, whatever became of that, and where the page has written it down as it is.
const showingSecrets = () => {
  const found = new Set(secretFields.map(field => field.deref()).filter(field => field && field.isConnected));
  if (!secretTexts.size) return [...found];
  const texts = [...secretTexts];
  const holds = text => typeof text === 'string' && texts.some(secret => text.includes(secret));
  const isDrawn = (element, pseudo) => !/^(none|normal)$/.test(getComputedStyle(element, pseudo).content);
  for (const scope of scopesOf(document)) {
    const walker = document.createTreeWalker(scope, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (!holds(node.data)) continue;
        let around = parentOf(node) || (scope.host || null);
        if (around && /^(option|optgroup)$/.test(around.localName)) around = around.closest('select') || around;
        while (around && getComputedStyle(around).display === 'contents') around = parentOf(around);
        if (around && !TEXTLESS.has(around.localName)) found.add(around);
        continue;
      }
      const field = /^(input|textarea)$/.test(node.localName);
      if (field && (holds(node.value) || holds(node.placeholder))) found.add(node);
      // A style sheet may show what an attribute says, and an image what stands for it.
      else if ([...attributesOf.call(node)].some(({ value }) => holds(value))
        && (isDrawn(node, '::before') || isDrawn(node, '::after') || /^(img|option|optgroup)$/.test(node.localName))) {
        found.add(/^opt/.test(node.localName) ? node.closest('select') || node : node);
      }
    }
  }
  return [...found];
};
