// From a locator to elements, and the words for an element in a message.

// `root` and all shadow roots below it. Those of the document are looked for once, for as long as no other script can run.
let documentScopes = null;
const scopesOf = root => {
  if (root === document && documentScopes) return documentScopes;
  const scopes = [root];
  for (let next = 0; next < scopes.length; next++) {
    const scope = scopes[next];
    if (scope.nodeType === Node.ELEMENT_NODE && rootOf(scope)) scopes.push(rootOf(scope));
    for (const element of scope.querySelectorAll('*')) if (rootOf(element)) scopes.push(rootOf(element));
  }
  if (root === document) {
    documentScopes = scopes;
    queueMicrotask(() => { documentScopes = null; });
  }
  return scopes;
};

// All matches below `root`, through shadow roots.
const queryAll = (root, selector) => scopesOf(root).flatMap(scope => [...scope.querySelectorAll(selector)]);

// ---- what a text is compared with ----

// {text}: a part is enough, whatever its case; {text, exact}: as it is; {regex, flags}.
const matcher = wanted => {
  if (wanted.regex != null) {
    const regex = new RegExp(wanted.regex, (wanted.flags || '').replace(/[gy]/g, ''));
    return text => regex.test(normalize(text));
  }
  const text = normalize(wanted.text);
  if (wanted.exact) return found => normalize(found) === text;
  const lower = text.toLowerCase();
  return found => normalize(found).toLowerCase().includes(lower);
};

// ---- kinds of steps ----

// Only these can have the role without saying so; the others need not be looked at.
const ROLE_CANDIDATES = {
  button: 'button, input, summary, [role]',
  checkbox: 'input, [role]',
  combobox: 'select, input, [role]',
  heading: 'h1, h2, h3, h4, h5, h6, [role]',
  link: 'a[href], area[href], [role]',
  listitem: 'li, [role]',
  option: 'option, [role]',
  radio: 'input, [role]',
  row: 'tr, [role]',
  searchbox: 'input, [role]',
  spinbutton: 'input, [role]',
  textbox: 'input, textarea, [contenteditable], [role]',
};

const byRole = (root, step) => {
  const named = step.name && matcher(step.name);
  return queryAll(root, ROLE_CANDIDATES[step.role] || '*').filter(element =>
    roleOf(element) === step.role && !isHiddenFromAria(element)
    && (step.states || []).every(([state, wanted]) => String(stateOf(element, state)) === wanted)
    && (!named || named(nameOf(element, step.role))));
};

const TEXT_BUTTON = /^(submit|button|reset)$/;
const WITHOUT_TEXT = [...TEXTLESS].join();

// All elements that hold a shadow root, at whatever depth, and the texts of those that were asked for.
let holders = null;
const holdersOf = () => {
  if (holders) return holders;
  holders = new Map();
  queueMicrotask(() => { holders = null; });
  for (const { host } of scopesOf(document)) for (let node = host; node && !holders.has(node); node = hostOrParent(node)) holders.set(node, null);
  return holders;
};

// The text of an element as `text=` compares it: scripts and styles say nothing to people. What a shadow root holds comes
// behind what its host does.
const plainText = element => {
  if (element.localName === 'input') return TEXT_BUTTON.test(element.type) ? element.value : '';
  return holdersOf().has(element) ? textWithRoots(element, 0) : lightText(element);
};

const lightText = element => {
  if (!element.firstElementChild || !element.querySelector(WITHOUT_TEXT)) return element.textContent;
  let text = '';
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, node =>
    (node.nodeType === Node.ELEMENT_NODE && TEXTLESS.has(node.localName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  while (walker.nextNode()) if (walker.currentNode.nodeType === Node.TEXT_NODE) text += walker.currentNode.data;
  return text;
};

const textWithRoots = (element, depth) => {
  let text = holdersOf().get(element);
  if (text != null) return text;
  text = '';
  for (const parent of [element, rootOf(element)]) {
    for (let child = parent && parent.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      if (child.nodeType !== Node.ELEMENT_NODE || TEXTLESS.has(child.localName)) continue;
      text += holders.has(child) && depth < NAME_DEPTH ? textWithRoots(child, depth + 1) : lightText(child);
    }
  }
  holders.set(element, text);
  return text;
};

// The innermost elements with the text, `root` itself being one of them. Where a tree as a whole has not got it, no part of
// it has.
const byText = (root, wanted) => {
  const matches = matcher(wanted);
  const contains = wanted.regex == null ? matcher({ text: wanted.text }) : () => true;
  const matched = [];
  for (const scope of scopesOf(root)) {
    const pending = [];
    const descend = node => { for (let child = node.lastElementChild; child; child = child.previousElementSibling) pending.push(child); };
    // What a frame's element holds is for those who know no frames.
    if (scope.nodeType === Node.ELEMENT_NODE && !/^i?frame$/.test(scope.localName)) pending.push(scope);
    else descend(scope);
    while (pending.length) {
      const element = pending.pop();
      if (TEXTLESS.has(element.localName) || element.localName === 'head') continue;
      if (element.localName !== 'input' && element.childElementCount) {
        // A button's text is its value, which is in no text content; a script's is, and may stand within the text.
        if (!contains(element.textContent) && !element.querySelector('input')
          && !((holdersOf().has(element) || element.querySelector(WITHOUT_TEXT)) && contains(plainText(element)))) continue;
        descend(element);
      }
      if (matches(plainText(element))) matched.push(element);
    }
  }
  const outer = new Set();
  for (const element of matched) for (let node = hostOrParent(element); node && !outer.has(node); node = hostOrParent(node)) outer.add(node);
  return matched.filter(element => !outer.has(element));
};

const LABELLED = 'input, textarea, select, button, meter, output, progress, [aria-label], [aria-labelledby]';

const byLabel = (root, wanted) => {
  const matches = matcher(wanted);
  return queryAll(root, LABELLED).filter(element =>
    labelsOf(element).some(label => matches(plainText(label)))
    || matches(element.getAttribute('aria-label') ?? '\0')
    || (element.hasAttribute('aria-labelledby') && matches(nameOf(element))));
};

const byAttribute = (root, attribute, wanted) => {
  const matches = matcher(wanted);
  return queryAll(root, `[${attribute}]`).filter(element => matches(element.getAttribute(attribute)));
};

const byXpath = (root, xpath) => {
  const expression = xpath.startsWith('/') && root !== document ? `.${xpath}` : xpath;
  const result = document.evaluate(expression, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
  const found = [];
  for (let at = 0; at < result.snapshotLength; at++) {
    const node = result.snapshotItem(at);
    if (node.nodeType === Node.ELEMENT_NODE) found.push(node);
  }
  return found;
};

const query = (root, step) => {
  if (step.css != null) return queryCss(root, step.css);
  if (step.role != null) return byRole(root, step);
  if (step.text != null) return byText(root, step.text);
  if (step.label != null) return byLabel(root, step.label);
  if (step.attribute != null) return byAttribute(root, step.attribute, step.value);
  if (step.xpath != null) return byXpath(root, step.xpath);
  return [];
};

// ---- refs ----

const refs = new Map();
const refOf = new WeakMap();

const byRef = ref => {
  const element = refs.get(ref) && refs.get(ref).deref();
  return element && element.isConnected ? element : null;
};

// ---- filters ----

const filter = (elements, step, offset) => {
  if (step.nth != null) {
    const at = step.nth < 0 ? elements.length + step.nth : step.nth - offset;
    return elements[at] ? [elements[at]] : [];
  }
  if (step.visible != null) return elements.filter(element => isSeen(element) === step.visible);
  if (step.hasText != null) {
    const matches = matcher(step.hasText);
    return elements.filter(element => matches(plainText(element)) !== !!step.not);
  }
  return elements.filter(element => (walk(step.has, [element]).length > 0) !== !!step.not);
};

const isFilter = step => step.nth != null || step.visible != null || step.hasText != null || step.has != null;

const walk = (steps, roots) => {
  for (const step of steps) {
    if (isFilter(step)) roots = filter(roots, step, 0);
    else roots = roots.length === 1 ? query(roots[0], step) : [...new Set(roots.flatMap(root => query(root, step)))];
  }
  return roots;
};

// ---- child frames, by Chromium's id; the host tells which element shows which ----

const frameElements = new Map();
const isUnseenFrame = frame => {
  const shown = frameElements.get(frame).deref();
  return !!shown && shown.isConnected && !isSeen(shown);
};

// Each step looks inside the matches of the one before. A child frame counts as the inside of its element: `starts` are
// the steps that begin at this document, `inside` answers those that begin in child frames. `offsets` says how many
// matches `nth` has seen in frames before this one, `counts` how many it has seen here.
const locate = (steps, starts = [0], offsets = {}) => {
  const inside = {};
  const counts = {};
  let roots = [];
  for (const [at, step] of steps.entries()) {
    if (step.ref != null) {
      // Child frames of it begin at the next step.
      if (!starts.includes(at)) continue;
      const element = byRef(step.ref);
      if (!element) throw new StaleRef(step.ref);
      roots = [element];
      continue;
    }
    if (isFilter(step)) {
      if (step.nth != null) counts[at] = roots.length;
      roots = filter(roots, step, offsets[at] || 0);
      continue;
    }
    if (starts.includes(at)) roots = [...roots, document];
    for (const [frame, element] of frameElements) {
      const shown = element.deref();
      if (shown && shown.isConnected && roots.some(root => root === document || isWithin(shown, root))) (inside[frame] ||= []).push(at);
    }
    roots = roots.length === 1 ? query(roots[0], step) : [...new Set(roots.flatMap(root => query(root, step)))];
  }
  return { found: roots, inside, counts };
};

class StaleRef extends Error {}

const describe = element => {
  if (!element) return 'nothing';
  // By attribute: a form answers `form.id` with its field of that name.
  const id = element.getAttribute('id') ? `#${element.getAttribute('id')}` : '';
  const type = element.localName === 'input' ? ` type=${element.type}` : '';
  const text = cut(normalize(nameOf(element) || element.textContent), 40);
  return `<${element.localName}${id}${type}>${text ? ` "${text}"` : ''}`.toWellFormed();
};
