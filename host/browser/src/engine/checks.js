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
  // The frames around this one may have to scroll, too; this one can't see them.
  else if (window.parent !== window) element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
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
    root = rootOf(element);
    if (!root) return element;
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

// What an action on `element` asks for besides that: a failed check, or {x, y} in this frame's viewport.
const aim = async (element, request) => {
  // Disabled before visible and stable: those take a frame, and this is the commoner reason.
  if (request.enabled && isDisabled(element)) return failed('enabled', { matched: 1, element: describe(element) });
  const wait = await ready(element);
  if (wait) return wait;
  const point = clickPoint(element, request.position);
  if (!point) return failed('in-view', { matched: 1, element: describe(element) });
  const hit = elementAt(point.x, point.y);
  if (!receives(hit, element)) return failed('hit', { matched: 1, element: describe(element), covering: describe(hit) });
  return point;
};
