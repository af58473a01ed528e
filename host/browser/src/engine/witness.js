// The witness: what really received a click, and the end of a click that would land elsewhere.

// The click under way: {id, element, first: null | 'hit' | a description of what was hit instead, point, over}. Where a
// click goes into a child frame, its element here is null: whatever arrives in this document has missed. `over` is what
// should be found at the point, were the click not to be seen.
let armed = null;

// Capture listeners on the window run before the page's own. The first event of a click decides:
// where it lands elsewhere than on its element, it and all that follow are kept from the page.
// Later events may land elsewhere, since the page may have changed in answer to the first; events
// that the page makes itself are none of ours.
const witness = event => {
  if (!armed || !event.isTrusted) return;
  if (armed.first === null) {
    const path = event.composedPath();
    const hit = path[0] instanceof Element ? path[0] : null;
    const lands = armed.element && (path.includes(armed.element) || receives(hit, armed.element)
      || receives(elementAt(event.clientX, event.clientY), armed.element));
    armed.first = lands ? 'hit' : describe(hit);
  }
  // Such a link does what it does a moment after its click.
  if (event.type === 'click' && event.composedPath().some(isScriptLink)) armed.later = true;
  if (armed.first !== 'hit') {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
};
const isScriptLink = node => node.protocol === 'javascript:' && (node.localName === 'a' || node.localName === 'area');

// Whether the page has begun to drag: {begun: boolean}, since it was asked last.
let dragging = false;
const drags = event => {
  if (!event.isTrusted) return;
  dragging = true;
  // The page's own listeners, which may prevent it, run later.
  setTimeout(() => { if (event.defaultPrevented) dragging = false; });
};

// Before each action anew: `document.open()` takes all listeners away, these as well. Who listens already does not twice.
const listen = () => {
  for (const kind of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick']) {
    addEventListener(kind, witness, { capture: true, passive: false });
  }
  addEventListener('dragstart', drags, { capture: true });
};
listen();

const arm = (id, element, over, point) => {
  listen();
  armed = { id, element, first: null, over, point };
};

// Where nothing was seen of a click: what is at its point now and not what should be. A frame tells nothing of what it gets.
const hitInstead = () => {
  const { first, over, point } = armed;
  if (first !== null || !over) return null;
  const now = elementAt(point.x, point.y);
  return isMatch(over, 'iframe, frame, object, embed, fencedframe') || receives(now, over) ? null : describe(now);
};
