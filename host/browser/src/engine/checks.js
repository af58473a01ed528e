// Waiting until an element can be acted on.
//
// Answers are plain values. A failed check is {failed: name, matched, …}: the host turns it into an
// error.

// A frame that nobody can see draws nothing: it must not be waited for.
const UNDRAWN = 150;
const nextFrame = () => new Promise(resume => {
  const late = setTimeout(resume, UNDRAWN);
  requestAnimationFrame(() => { clearTimeout(late); resume(); });
});
const pause = time => new Promise(resume => setTimeout(resume, time));

// Requests that the host still waits for, so that a cancelled click arms nothing later.
const live = new Set();
// Elements that the host has chosen from among several frames, by request.
const held = new Map();

const failed = (check, more) => ({ failed: check, ...more });

// Runs `attempt` until it succeeds or fails for good, or the time is over: then its last failure is
// the answer.
const retry = async (request, attempt) => {
  live.add(request.id);
  // Who is asked without the frames around it is the page itself, or what a snapshot has shown.
  if (!request.held) inUnseenFrame = false;
  try {
    return await attempts(request, attempt);
  } finally {
    live.delete(request.id);
    held.delete(request.id);
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
      if (error instanceof StaleRef) return failed('stale', { final: true, message: error.message });
      if (error.name !== 'SyntaxError') throw error;
      return failed('selector', { final: true, message: error.message });
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
  if (request.held) {
    const element = held.get(request.id);
    return element && element.isConnected ? { element } : failed('attached', { matched: 0, final: true });
  }
  const { found } = locate(request.steps);
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

// Whether what is fixed, or absolute, inside of it is so within it.
const holdsFixed = style => style.transform !== 'none' || style.perspective !== 'none' || style.filter !== 'none'
  || style.translate !== 'none' || style.rotate !== 'none' || style.scale !== 'none' || style.backdropFilter !== 'none'
  || /paint|layout|strict|content/.test(style.contain) || /transform|perspective|filter/.test(style.willChange)
  || style.containerType !== 'normal';

// `overflow` says nothing of inline boxes and of parts of tables; a drawing is inline, and clips.
const isUnclipped = (node, display) => node instanceof HTMLElement
  && (display === 'inline' || (display.startsWith('table-') && !/cell|caption/.test(display)));

// How far beyond a box that clips is still shown.
const clipMargin = (style, overflow) => (overflow === 'clip' ? parseFloat(/[\d.]+px/.exec(style.overflowClipMargin)) || 0 : 0);

// The part of a box that its scrolling ancestors and the viewport leave to be seen. What is positioned lies in an ancestor
// further up, and those between do not clip it: that is how menus get out of small boxes.
const visiblePart = (element, box) => {
  let left = Math.max(box.left, 0), top = Math.max(box.top, 0);
  let right = Math.min(box.right, innerWidth), bottom = Math.min(box.bottom, innerHeight);
  let inner = element, position = getComputedStyle(element).position;
  for (let node = parentOf(element); node && node !== document.body && node !== document.documentElement; node = parentOf(node)) {
    const style = getComputedStyle(node);
    if (style.display === 'contents') continue;
    if (position === 'fixed' || position === 'absolute') {
      if (isMatch(inner, ':modal, :popover-open')) break;
      if ((position === 'fixed' || style.position === 'static') && !holdsFixed(style)) continue;
    }
    inner = node;
    position = style.position;
    if (style.overflow === 'visible' || isUnclipped(node, style.display)) continue;
    const clip = node.getBoundingClientRect();
    if (style.overflowX !== 'visible') {
      const margin = clipMargin(style, style.overflowX);
      left = Math.max(left, clip.left - margin);
      right = Math.min(right, clip.right + margin);
    }
    if (style.overflowY !== 'visible') {
      const margin = clipMargin(style, style.overflowY);
      top = Math.max(top, clip.top - margin);
      bottom = Math.min(bottom, clip.bottom + margin);
    }
  }
  return { left, top, right, bottom };
};

// How often something covered an element in a row, so that what sticks to an edge can be got away from.
const covered = new WeakMap();
const PLACES = ['center', 'end', 'start'];

const coveredBy = (element, hit) => {
  covered.set(element, (covered.get(element) || 0) + 1);
  return failed('hit', { matched: 1, element: describe(element), covering: describe(hit) });
};

const scrollIntoView = element => {
  const times = covered.get(element);
  if (times) {
    const place = PLACES[(times - 1) % PLACES.length];
    element.scrollIntoView({ block: place, inline: place, behavior: 'instant' });
    return;
  }
  const seen = boxesOf(element).every(box => {
    const part = visiblePart(element, box);
    return part.left <= box.left && part.top <= box.top && part.right >= box.right && part.bottom >= box.bottom;
  });
  if (!seen) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  // The frames around this one may have to scroll, too; this one can't see them.
  else if (window.parent !== window) element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
};

// A label may hold a link, which is not what is meant: its other parts come first.
const ownBoxes = label => {
  const boxes = boxesOf(label);
  if (!label.querySelector('a[href], button')) return boxes;
  const range = document.createRange();
  const own = [...label.childNodes].filter(node => node.nodeType === Node.TEXT_NODE
    ? normalize(node.data) : node.nodeType === Node.ELEMENT_NODE && !isMatch(node, 'a[href], button, :has(a[href], button)'));
  return [...own.flatMap(node => { range.selectNode(node); return [...range.getClientRects()]; }), ...boxes];
};

// The middle of the first piece of the element that can be seen: an inline link may be in several. `position` counts from
// the corner of the element's box instead.
const clickPoint = (element, position) => {
  if (position) {
    const box = element.getBoundingClientRect();
    const point = { x: box.left + position.x, y: box.top + position.y };
    const part = visiblePart(element, { left: point.x, right: point.x, top: point.y, bottom: point.y });
    return part.left <= part.right && part.top <= part.bottom ? point : null;
  }
  for (const box of element.localName === 'label' ? ownBoxes(element) : boxesOf(element)) {
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
    root = rootOf(element);
    if (!root) return element;
  }
};

// What is pressed by a press on what it holds.
const PRESSED = 'button, a, [role=button], [role=link]';
// What is pressed where the mouse is let through, but may hold things of its own.
const ENTERED = 'label, [role=menuitem], [role=option], [role=tab]';

// A click on a label is one on its field, one inside a button is one on the button, and one on a button is one on all that
// it holds: many a text and icon in it lets the mouse through.
const receives = (hit, element) => {
  if (isWithin(hit, element)) return true;
  const around = isMatch(element, 'input, textarea, select') || element.isContentEditable ? null : closestInTree(element, PRESSED);
  if (around && around !== element && hit && closestInTree(hit, PRESSED) === around) return true;
  if (hit && isWithin(element, hit) && closestInTree(hit, ENTERED)) return true;
  const label = hit && closestInTree(hit, 'label');
  return !!label && label.control === element;
};

// Check boxes and radio buttons are often hidden behind what their label shows, or put where no scrolling gets to.
const shownFor = element => {
  if (element.localName !== 'input' || !/^(checkbox|radio)$/.test(element.type)) return element;
  if (isVisible(element) && !isOutOfReach(element, false, viewNow())) return element;
  return labelsOf(element).find(isVisible) || element;
};

const ready = async element => {
  if (!isSeen(element)) return failed('visible', { matched: 1, element: describe(element) });
  scrollIntoView(element);
  if (!await isStable(element)) {
    return element.isConnected ? failed('stable', { matched: 1, element: describe(element) }) : failed('attached', { matched: 0 });
  }
  return null;
};

// What an action on `element` asks for besides that: a failed check, or {x, y} in this frame's viewport.
const aim = async (element, request) => {
  // Disabled before visible and stable: those take a frame, and this is the commoner reason.
  if (request.enabled && (isDisabled(element) || isDisabled(fieldOf(element)))) return failed('enabled', { matched: 1, element: describe(element) });
  const wait = await ready(element);
  if (wait) return wait;
  const point = clickPoint(element, request.position);
  if (!point) return failed('in-view', { matched: 1, element: describe(element) });
  const hit = elementAt(point.x, point.y);
  if (!receives(hit, element)) {
    if (closestInTree(element, '[inert]')) return failed('inert', { matched: 1, element: describe(element) });
    return coveredBy(element, hit);
  }
  covered.delete(element);
  return point;
};
