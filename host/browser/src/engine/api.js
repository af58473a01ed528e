// What the host calls. Answers are plain values.

const onlyOne = request => {
  const { element, ...failure } = one(request);
  return element ? { element } : { failure };
};

const READ = {
  text: element => {
    if (element.localName === 'select') return [...element.selectedOptions].map(option => option.label).join('\n');
    if (element.localName === 'input' && element.type === 'password') return '•'.repeat(element.value.length);
    if (element.localName === 'input' || element.localName === 'textarea') return element.value;
    return element.innerText ?? element.textContent;
  },
  value: element => {
    const field = fieldOf(element);
    return 'value' in field && /^(input|textarea|select|button|option|meter|progress|output)$/.test(field.localName) ? String(field.value) : null;
  },
  attribute: (element, request) => element.getAttribute(request.name),
  html: element => element.innerHTML,
  'outer-html': element => element.outerHTML,
};

// Elements on their way to the host, by request.
const kept = new Map();

globalThis.windlass = {
  // Answers {x, y} of this frame's viewport, and arms the witness; {already: true} where `unless` holds.
  aim: request => retry(request, async () => {
    const { element, failure } = onlyOne(request);
    if (!element) return failure;
    if (request.unless != null) {
      const checked = checkedOf(element);
      if (checked == null) return failed('checkable', { final: true, message: `${describe(element)} can't be checked` });
      if (checked === request.unless) return { already: true };
      if (request.unless === 'false' && fieldOf(element).type === 'radio') {
        return failed('checkable', { final: true, message: 'a radio button is unchecked by checking another one' });
      }
    }
    const target = shownFor(element);
    const point = await aim(target, request);
    if (point.failed) return point;
    if (!live.has(request.id)) return failed('stopped');
    if (request.arm) arm(request.id, target, target, point);
    return point;
  }),

  // A point of a child frame in this one; a failed check where something covers it. Arms the witness, too.
  through: ({ id, frame, x, y, arm: arms, check }) => {
    const element = frameElements.get(frame) && frameElements.get(frame).deref();
    if (!element || !element.isConnected) return failed('attached', { matched: 0 });
    const at = () => {
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      const wide = element.offsetWidth ? box.width / element.offsetWidth : 1;
      const high = element.offsetHeight ? box.height / element.offsetHeight : 1;
      return {
        x: box.left + (element.clientLeft + parseFloat(style.paddingLeft) + x) * wide,
        y: box.top + (element.clientTop + parseFloat(style.paddingTop) + y) * high,
        wide,
        high,
      };
    };
    const isIn = point => point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight;
    let point = at();
    if (!check) return point;
    const times = covered.get(element);
    if (times) {
      // Away from what covered it, at another height of the viewport.
      scrollBy({ top: at().y - innerHeight * [0.5, 0.9, 0.1][(times - 1) % 3], behavior: 'instant' });
      point = at();
    }
    if (!isIn(point)) {
      element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      if (!isIn(at())) scrollBy({ left: at().x - innerWidth / 2, top: at().y - innerHeight / 2, behavior: 'instant' });
      point = at();
    }
    if (!isIn(point)) return failed('in-view', { matched: 1, element: describe(element) });
    const hit = elementAt(point.x, point.y);
    if (!isWithin(hit, element)) return coveredBy(element, hit);
    covered.delete(element);
    if (arms) arm(id, null, element, point);
    return point;
  },

  // Nothing to say: what the page has told before, such as a navigation it plans, has been told by now.
  handled: () => null,

  // How the click went: {hit: true}, or what received it; where nothing arrived, `instead` is what is at its point now if
  // that is not what should be.
  clicked: async () => {
    if (!armed) return { hit: false, covering: null };
    const { first, later = false } = armed;
    const instead = first === null ? hitInstead() : null;
    armed = null;
    if (later) await pause(0);
    return first === 'hit' ? { hit: true } : { hit: false, covering: first, instead };
  },

  dragged: () => {
    listen();
    const begun = dragging;
    dragging = false;
    return { begun };
  },

  stop: id => {
    live.delete(id);
    held.delete(id);
    if (armed && armed.id === id) armed = null;
  },

  // Among several frames: what is here, and what may be inside of it. The only match is held for what follows.
  find: request => {
    try {
      inUnseenFrame = !!request.unseen;
      const { found, inside, counts } = locate(request.steps, request.starts, request.offsets);
      if (found.length === 1) held.set(request.id, found[0]);
      const shown = request.until === 'hidden' ? found.filter(isSeen) : found;
      const unseen = Object.keys(inside).filter(isUnseenFrame);
      return { matched: shown.length, inside, unseen, counts, candidates: shown.slice(0, 5).map(describe) };
    } catch (error) {
      if (error instanceof StaleRef) return failed('stale', { message: error.message });
      if (error.name === 'SyntaxError') return failed('selector', { message: error.message });
      throw error;
    }
  },

  // Answers {how: 'insert'}: focused and selected, the host types; or {how: 'set'}: done.
  fill: request => retry(request, async () => {
    const { element: match, failure } = onlyOne(request);
    if (!match) return failure;
    const element = fieldOf(match);
    return editable(element, true) || fillElement(element, request.text);
  }),

  // As `fill`, where the document is of one of `origins`.
  fillSecret: request => retry(request, async () => {
    const { element: match, failure } = onlyOne(request);
    if (!match) return failure;
    const element = fieldOf(match);
    return editable(element, true) || fillSecret(element, request);
  }),

  // Focused, so that the host can type.
  focus: request => retry(request, async () => {
    const { element: match, failure } = onlyOne(request);
    if (!match) return failure;
    const element = match.hasAttribute('tabindex') ? match : fieldOf(match);
    // Keys go to what has no size as well: there are editors that take them with a field which nobody sees.
    const wait = isSeen(element) ? editable(element, false) : takesKeys(element);
    if (wait) return wait;
    const host = editingHost(element);
    if (host === element && hasFocus(element)) return {};
    host.focus();
    if (!hasFocus(host)) return unfocused(element);
    // Typing goes on behind what is there.
    if (element.isContentEditable) {
      getSelection().selectAllChildren(element);
      getSelection().collapseToEnd();
    } else if (TYPED.has(element.type) || element.localName === 'textarea') {
      try { element.setSelectionRange(element.value.length, element.value.length); } catch { /* numbers have no selection */ }
    }
    return {};
  }),

  select: request => retry(request, async () => {
    const { element: match, failure } = onlyOne(request);
    if (!match) return failure;
    const element = fieldOf(match);
    return editable(element, false) || choose(element, request.options);
  }),

  checked: request => retry(request, async () => {
    const { element, failure } = onlyOne(request);
    if (failure) return failure;
    const checked = checkedOf(element);
    return checked != null && checked !== request.wanted ? failed('unchanged', { matched: 1 }) : {};
  }),

  read: request => retry(request, async () => {
    const { element, failure } = onlyOne(request);
    if (!element) return failure;
    const value = READ[request.what](element, request);
    return { value: typeof value === 'string' ? value.toWellFormed() : null };
  }),

  count: request => retry({ ...request, timeout: 0 }, async () => ({ matched: locate(request.steps).found.length })),

  wait: request => retry(request, async () => {
    if (request.until === 'hidden' || request.until === 'detached') {
      const found = request.held
        ? [held.get(request.id)].filter(element => element && element.isConnected)
        : locate(request.steps).found;
      const left = found.filter(element => request.until === 'detached' || isSeen(element));
      return left.length ? failed(request.until, { matched: left.length, element: describe(left[0]) }) : {};
    }
    const { element, failure } = onlyOne(request);
    if (!element) return failure;
    return request.until === 'visible' && !isSeen(element) ? failed('visible', { matched: 1, element: describe(element) }) : {};
  }),

  // The box of an element in this frame's viewport, scrolled into view; {scroll} says where the viewport is.
  box: request => retry(request, async () => {
    const { element, failure } = onlyOne(request);
    if (!element) return failure;
    const wait = await ready(element);
    if (wait) return wait;
    const box = element.getBoundingClientRect();
    return { x: box.x, y: box.y, width: box.width, height: box.height };
  }),

  // Where an element lies in this frame's viewport, or null.
  bounds: request => retry(request, async () => {
    const { element, failure } = onlyOne(request);
    if (!element) return failure;
    const { x, y, width, height } = element.getBoundingClientRect();
    return { bounds: element.getClientRects().length ? { x, y, width, height } : null };
  }),

  scroll: request => retry(request, async () => {
    const { element, failure } = onlyOne(request);
    if (!element) return failure;
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    return {};
  }),

  snapshot: request => retry(request, async () => {
    if (!request.steps) return snapshot(request, null);
    const { element, failure } = onlyOne(request);
    return failure || snapshot(request, element);
  }),

  // The text of this document, as people see it, and the frames in it that they do not see. What is in shadow roots is part
  // of no other text.
  holds: ({ text }) => {
    const matches = matcher(text);
    inUnseenFrame = false;
    const unseen = [...frameElements.keys()].filter(isUnseenFrame);
    if (!document.body) return { found: false, unseen };
    return { unseen, found: matches(document.body.innerText)
      || scopesOf(document).slice(1).some(root => matches([...root.children].filter(isRendered).map(child => child.innerText).join(' '))) };
  },

  scrolled: () => ({ x: scrollX, y: scrollY }),

  // What was scrolled or moved is drawn by then.
  drawn: async () => {
    await nextFrame();
    await nextFrame();
    return null;
  },

  // Hides and covers all fields with secrets, or all visible matches of `steps`, until `uncover`.
  cover: async ({ steps, color, drawn }) => {
    coverAll(steps ? locate(steps).found.filter(isVisible) : showingSecrets(), color);
    // What another process draws is not waited for by who takes the picture.
    if (drawn) { await nextFrame(); await nextFrame(); }
    return null;
  },
  // Whether no secret was to be seen in between.
  uncover: () => {
    const kept = showingSecrets().every(isHidden);
    uncoverAll();
    return { kept };
  },

  title: () => document.title.toWellFormed(),

  // ---- by reference: the host hands elements in and out ----

  keep: request => retry(request, async () => {
    const { element, failure } = onlyOne(request);
    if (!element) return failure;
    const field = request.field ? fieldOf(element) : element;
    const files = field.localName === 'input' && field.type === 'file';
    if (request.field && files && isDisabled(field)) return failed('enabled', { matched: 1, element: describe(field) });
    kept.set(request.id, field);
    return { files, multiple: files && field.multiple };
  }),
  kept: id => {
    const element = kept.get(id) || null;
    kept.delete(id);
    return element;
  },
  suspects,
};

// `this` is the element that shows a child frame.
globalThis.windlassAdopt = function (frame) { frameElements.set(frame, new WeakRef(this)); };
// `this` is a closed shadow root.
globalThis.windlassOpen = function () { closedRoots.set(this.host, this); };
