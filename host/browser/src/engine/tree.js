// The tree as people see it: shadow roots and slots resolved, and what of it can be seen.
// All files of this folder are one function body, in the order of page/world.rs.

// What has no width is not there, wherever it stands. Few texts have it, and all are asked.
const withoutWidthless = text => (text.includes('\u200b') || text.includes('\u00ad') ? text.replace(/[\u200b\u00ad]+/g, '') : text);
const normalize = text => (text ? withoutWidthless(text).replace(/\s+/g, ' ').trim() : '');

// A form answers for its properties with its fields of that name, be it `matches` or `children`.
const matchesOf = Element.prototype.matches;
const isMatch = (element, selector) => matchesOf.call(element, selector);

// ---- the composed tree: shadow roots in place of their hosts' children, slotted nodes in place of
// their slots ----

// Closed roots that the host has found; open ones say so themselves.
const closedRoots = new WeakMap();
const rootOf = element => element.shadowRoot || closedRoots.get(element) || null;

const childrenOf = node => {
  const root = rootOf(node);
  if (root) return root.childNodes;
  if (node.localName === 'slot') {
    const assigned = node.assignedNodes({ flatten: true });
    if (assigned.length) return assigned;
  }
  return node.childNodes;
};

// The text of a node that holds nothing else, as most do that are named by what they hold.
const onlyText = node => {
  const first = node.firstChild;
  return first && !first.nextSibling && first.nodeType === Node.TEXT_NODE && !rootOf(node) && node.localName !== 'slot' ? first : null;
};

const parentOf = node => node.assignedSlot || node.parentElement || (node.parentNode && node.parentNode.host) || null;

const isWithin = (element, ancestor) => {
  for (let node = element; node; node = parentOf(node)) if (node === ancestor) return true;
  return false;
};

const closestInTree = (element, selector) => {
  for (let node = element; node; node = parentOf(node)) if (isMatch(node, selector)) return node;
  return null;
};

// ---- visibility ----

// An element without a box of its own (display: contents) is where its content is.
const boxesOf = element => {
  const boxes = [...element.getClientRects()].filter(box => box.width > 0 && box.height > 0);
  if (boxes.length) return boxes;
  const range = document.createRange();
  range.selectNodeContents(element);
  return [...range.getClientRects()];
};

// Rendered and not hidden; an element without a box of its own counts as the one around it.
const isRendered = element => {
  if (getComputedStyle(element).display !== 'contents') {
    return element.checkVisibility({ visibilityProperty: true });
  }
  const parent = parentOf(element);
  return !parent || isRendered(parent);
};

// What a person could see once it is scrolled to, where this document can be seen.
const isVisible = element => isRendered(element) && boxesOf(element).some(box => box.width > 0 && box.height > 0);

// Whether this document is in a frame that nobody can see: the host knows, since it asks the documents around it as well.
let inUnseenFrame = false;
const isSeen = element => !inUnseenFrame && isVisible(element);

const isHiddenFromAria = element => !isRendered(element) || !!closestInTree(element, '[aria-hidden="true"]');

const isDisabled = element => isMatch(element, ':disabled') || !!closestInTree(element, '[aria-disabled="true"]');

// Without half of a pair of surrogates at the end.
const cut = (text, length) => {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)}…`;
};
