// Waiting until an element can be acted on, the witness of a click, and what is read from the page.
//
// Answers are plain values. A failed check is {failed: name, matched, …}: the host turns it into an
// error.

const nextFrame = () => new Promise(requestAnimationFrame);
const pause = time => new Promise(resume => setTimeout(resume, time));

// Requests that the host still waits for, so that a cancelled click arms nothing later.
const live = new Set();
// The click under way: {id, element, first: null | 'hit' | a description of what was hit instead}.
let armed = null;

const failed = (check, more) => ({ failed: check, ...more });

// Runs `attempt` until it succeeds or fails for good, or the time is over: then its last failure is
// the answer.
const retry = async (request, attempt) => {
  live.add(request.id);
  try {
    return await attempts(request, attempt);
  } finally {
    live.delete(request.id);
  }
};

const attempts = async (request, attempt) => {
  const end = performance.now() + request.timeout;
  for (;;) {
    const begin = performance.now();
    let answer;
    try {
      answer = await attempt();
    } catch (error) {
      if (error.name !== 'SyntaxError') throw error;
      return failed('selector', { message: error.message });
    }
    if (!live.has(request.id)) return failed('stopped');
    if (!answer.failed || answer.final || performance.now() >= end) return answer;
    // A costly look at a large page leaves the page three times as long to itself.
    const cost = performance.now() - begin;
    await (cost > 5 ? pause(Math.min(cost * 3, 200)) : nextFrame());
    if (!live.has(request.id)) return failed('stopped');
  }
};

const one = request => {
  const found = locate(request.steps);
  if (found.length === 1) return { element: found[0] };
  if (!found.length) return failed('attached', { matched: 0 });
  return failed('one', { matched: found.length, candidates: found.slice(0, 5).map(describe), final: true });
};

// ---- the checks before an action ----

const sameBox = (a, b) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

// An animation that has just begun still shows its first position in the next frame.
const isAnimated = element => document.getAnimations().some(animation => {
  const target = animation.effect && animation.effect.target;
  return target && animation.playState === 'running' && isWithin(element, target);
});

// Whether the box is the same in two frames. A browser that is short of time draws frames late, and
// then two at once: such a pair shows the same moment, and proves nothing.
const isStable = async element => {
  if (isAnimated(element)) await nextFrame();
  const before = element.getBoundingClientRect();
  const time = document.timeline.currentTime;
  for (let frames = 0; frames < 5; frames++) {
    await nextFrame();
    if (document.timeline.currentTime - time >= 8) break;
  }
  return element.isConnected && sameBox(before, element.getBoundingClientRect());
};

// The part of a box that its scrolling ancestors and the viewport leave to be seen.
const visiblePart = (element, box) => {
  let left = Math.max(box.left, 0), top = Math.max(box.top, 0);
  let right = Math.min(box.right, innerWidth), bottom = Math.min(box.bottom, innerHeight);
  for (let node = parentOf(element); node && node !== document.body && node !== document.documentElement; node = parentOf(node)) {
    const style = getComputedStyle(node);
    if (style.overflow === 'visible' || style.display === 'contents') continue;
    const clip = node.getBoundingClientRect();
    left = Math.max(left, clip.left);
    top = Math.max(top, clip.top);
    right = Math.min(right, clip.right);
    bottom = Math.min(bottom, clip.bottom);
  }
  return { left, top, right, bottom };
};

const scrollIntoView = element => {
  const seen = boxesOf(element).every(box => {
    const part = visiblePart(element, box);
    return part.left <= box.left && part.top <= box.top && part.right >= box.right && part.bottom >= box.bottom;
  });
  if (!seen) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
};

// The middle of the first piece of the element that can be seen: an inline link may be in several.
const clickPoint = element => {
  for (const box of boxesOf(element)) {
    const { left, top, right, bottom } = visiblePart(element, box);
    if (right - left >= 1 && bottom - top >= 1) return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }
  return null;
};

const elementAt = (x, y) => {
  let root = document, element = null;
  for (;;) {
    const next = root.elementFromPoint(x, y);
    if (!next || next === element) return element;
    element = next;
    if (!element.shadowRoot) return element;
    root = element.shadowRoot;
  }
};

// A click on a label is one on its field, and one inside a button is one on the button.
const receives = (hit, element) => {
  if (isWithin(hit, element)) return true;
  const label = hit && closestInTree(hit, 'label');
  return !!label && label.control === element;
};

const ready = async element => {
  if (!isVisible(element)) return failed('visible', { matched: 1, element: describe(element) });
  scrollIntoView(element);
  if (!await isStable(element)) {
    return element.isConnected ? failed('stable', { matched: 1, element: describe(element) }) : failed('attached', { matched: 0 });
  }
  return null;
};

// ---- the witness ----

// Capture listeners on the window run before the page's own. The first event of a click decides:
// where it lands elsewhere than on its element, it and all that follow are kept from the page.
// Later events may land elsewhere, since the page may have changed in answer to the first; events
// that the page makes itself are none of ours.
const witness = event => {
  if (!armed || !event.isTrusted) return;
  if (armed.first === null) {
    const path = event.composedPath();
    const hit = path[0] instanceof Element ? path[0] : null;
    const lands = path.includes(armed.element) || receives(hit, armed.element)
      || receives(elementAt(event.clientX, event.clientY), armed.element);
    armed.first = lands ? 'hit' : describe(hit);
  }
  if (armed.first !== 'hit') {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
};
for (const kind of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick']) {
  addEventListener(kind, witness, { capture: true, passive: false });
}

// ---- filling in ----

const TYPED = new Set(['', 'email', 'number', 'password', 'search', 'tel', 'text', 'url']);
const SET = new Set(['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week']);

// What the page hears when a person has chosen a value.
const announce = element => {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
};

// Focused and selected, so that what is typed replaces what is there; a page may take the focus
// away again.
const select = (element, selectAll) => {
  element.focus();
  if (element.getRootNode().activeElement !== element) return failed('focus', { matched: 1, element: describe(element) });
  selectAll();
  return { how: 'insert' };
};

const fillInput = (element, text) => {
  const type = element.type;
  if (SET.has(type)) {
    const value = type === 'color' ? text.trim().toLowerCase() : text.trim();
    element.focus();
    element.value = value;
    if (element.value !== value) return failed('value', { final: true, message: `an input of type ${type} does not take this value` });
    announce(element);
    return { how: 'set' };
  }
  if (!TYPED.has(type)) return failed('fillable', { final: true, message: `an input of type ${type} can't be filled in` });
  if (type === 'number' && text.trim() !== '' && Number.isNaN(Number(text))) {
    return failed('value', { final: true, message: 'an input of type number takes a number' });
  }
  return select(element, () => element.select());
};

const chooseOption = (element, text) => {
  const options = [...element.options];
  const option = options.find(option => option.value === text) || options.find(option => normalize(option.label) === normalize(text));
  if (!option) return failed('option', { matched: 1, message: 'no option has this value or label' });
  if (option.disabled) return failed('option', { matched: 1, message: 'the option is disabled' });
  element.focus();
  element.value = option.value;
  option.selected = true;
  announce(element);
  return { how: 'set' };
};

const fillElement = (element, text) => {
  if (element.localName === 'select') return chooseOption(element, text);
  if (element.localName === 'input') return fillInput(element, text);
  if (element.localName === 'textarea') return select(element, () => element.select());
  if (!element.isContentEditable) return failed('fillable', { final: true, message: `${describe(element)} can't be filled in` });
  return select(element, () => getSelection().selectAllChildren(element));
};

// ---- what the host calls ----

globalThis.windlass = {
  // Answers {x, y} of the viewport, and arms the witness.
  click: request => retry(request, async () => {
    const { element, ...failure } = one(request);
    if (!element) return failure;
    // Disabled before visible and stable: those take a frame, and this is the commoner reason.
    if (isDisabled(element)) return failed('enabled', { matched: 1, element: describe(element) });
    const wait = await ready(element);
    if (wait) return wait;
    const point = clickPoint(element);
    if (!point) return failed('in-view', { matched: 1, element: describe(element) });
    const hit = elementAt(point.x, point.y);
    if (!receives(hit, element)) return failed('hit', { matched: 1, element: describe(element), covering: describe(hit) });
    if (!live.has(request.id)) return failed('stopped');
    armed = { id: request.id, element, first: null };
    return point;
  }),

  // Nothing to say: what the page has told before, such as a navigation it plans, has been told by
  // now.
  handled: () => null,

  // How the click went: {hit: true}, or what received it instead; null where nothing arrived.
  clicked: () => {
    const first = armed && armed.first;
    armed = null;
    return first === 'hit' ? { hit: true } : { hit: false, covering: first };
  },

  stop: id => {
    live.delete(id);
    if (armed && armed.id === id) armed = null;
  },

  // Answers {how: 'insert'}: focused and selected, the host types; or {how: 'set'}: done.
  fill: request => retry(request, async () => {
    const { element: match, ...failure } = one(request);
    if (!match) return failure;
    const element = match.localName === 'label' && match.control ? match.control : match;
    if (!isVisible(element)) return failed('visible', { matched: 1, element: describe(element) });
    if (isDisabled(element)) return failed('enabled', { matched: 1, element: describe(element) });
    if (element.readOnly || closestInTree(element, '[aria-readonly="true"]')) {
      return failed('editable', { matched: 1, element: describe(element) });
    }
    scrollIntoView(element);
    return fillElement(element, request.text);
  }),

  text: request => retry(request, async () => {
    const { element, ...failure } = one(request);
    if (!element) return failure;
    let text;
    if (element.localName === 'select') text = [...element.selectedOptions].map(option => option.label).join('\n');
    else if (element.localName === 'input' && element.type === 'password') text = '•'.repeat(element.value.length);
    else if (element.localName === 'input' || element.localName === 'textarea') text = element.value;
    else text = element.innerText ?? element.textContent;
    return { text: text.toWellFormed() };
  }),

  wait: request => retry(request, async () => {
    if (request.until === 'hidden' || request.until === 'detached') {
      const found = locate(request.steps).filter(element => request.until === 'detached' || isVisible(element));
      return found.length ? failed(request.until, { matched: found.length, element: describe(found[0]) }) : {};
    }
    const { element, ...failure } = one(request);
    if (!element) return failure;
    return request.until === 'visible' && !isVisible(element) ? failed('visible', { matched: 1, element: describe(element) }) : {};
  }),

  // The box of an element in the document, scrolled into view.
  box: request => retry(request, async () => {
    const { element, ...failure } = one(request);
    if (!element) return failure;
    const wait = await ready(element);
    if (wait) return wait;
    const box = element.getBoundingClientRect();
    return { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height };
  }),

  title: () => document.title.toWellFormed(),
};
