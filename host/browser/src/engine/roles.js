// What an element is to people: its role and accessible name.

// ---- roles (HTML-AAM, reduced to what pages use) ----

const INPUT_ROLES = {
  __proto__: null,
  button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', color: 'button',
  checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox',
};
const TAG_ROLES = {
  __proto__: null,
  article: 'article', aside: 'complementary', blockquote: 'blockquote', button: 'button', code: 'code', dd: 'definition',
  details: 'group', dfn: 'term', dialog: 'dialog', dt: 'term', em: 'emphasis', fieldset: 'group', figure: 'figure',
  h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', hr: 'separator',
  main: 'main', math: 'math', menu: 'list', meter: 'meter', nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option',
  output: 'status', p: 'paragraph', progress: 'progressbar', search: 'search', strong: 'strong', summary: 'button', svg: 'img',
  table: 'table', textarea: 'textbox', time: 'time',
  ul: 'list', iframe: 'iframe', frame: 'iframe', del: 'deletion', ins: 'insertion', s: 'deletion', mark: 'mark',
};
// A page may name several roles, and one that is none: the first that is one counts (WAI-ARIA 1.2, 8.1).
const ROLES = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code columnheader '
  + 'combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid '
  + 'gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem '
  + 'menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region '
  + 'row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript suggestion '
  + 'superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem').split(' '));
const explicitRole = given => {
  for (const role of given.toLowerCase().trim().split(/\s+/)) {
    if (ROLES.has(role)) return role;
    if (role === 'image') return 'img';
  }
  return '';
};
const isPlain = element => element.hasAttribute('role') && /^(none|presentation)$/.test(element.getAttribute('role'));

// The parts of a list or table that is none to people are none either.
const partRole = (element, tag) => {
  if (tag === 'li') return element.parentElement && isPlain(element.parentElement) ? '' : 'listitem';
  const table = element.closest('table');
  if (table && isPlain(table)) return '';
  if (tag === 'tr') return 'row';
  if (tag === 'td') return table && /^(tree)?grid$/.test(table.getAttribute('role') || '') ? 'gridcell' : 'cell';
  if (tag !== 'th') return 'rowgroup';
  if (element.scope) return element.scope.startsWith('row') ? 'rowheader' : 'columnheader';
  const isData = cell => cell && cell.localName === 'td' && normalize(cell.textContent);
  return isData(element.nextElementSibling) || isData(element.previousElementSibling) ? 'rowheader' : 'columnheader';
};
const SECTIONING = 'article, aside, main, nav, section';
const isNamed = element => ['aria-label', 'aria-labelledby', 'title'].some(name => (element.getAttribute(name) || '').trim());

const implicitRole = element => {
  const tag = element.localName;
  switch (tag) {
    case 'a': case 'area': return element.hasAttribute('href') ? 'link' : '';
    case 'img': return element.getAttribute('alt') === '' && !isNamed(element) ? '' : 'img';
    case 'input':
      if (element.type === 'hidden') return '';
      if (element.list && !(element.type in INPUT_ROLES && element.type !== 'search')) return 'combobox';
      return INPUT_ROLES[element.type] || 'textbox';
    case 'select': return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'section': return isNamed(element) ? 'region' : '';
    case 'form': return isNamed(element) ? 'form' : '';
    case 'header': return element.parentElement && element.parentElement.closest(SECTIONING) ? '' : 'banner';
    case 'footer': return element.parentElement && element.parentElement.closest(SECTIONING) ? '' : 'contentinfo';
    case 'li': case 'td': case 'th': case 'tr': case 'tbody': case 'thead': case 'tfoot': return partRole(element, tag);
    case 'object': case 'embed': return [...frameElements.values()].some(shown => shown.deref() === element) ? 'iframe' : '';
  }
  if (TAG_ROLES[tag]) return TAG_ROLES[tag];
  return element.isContentEditable && !(element.parentElement && element.parentElement.isContentEditable) ? 'textbox' : '';
};

const roleOf = element => {
  const given = element.hasAttributes() && element.getAttribute('role');
  const explicit = given ? explicitRole(given) : '';
  if (!explicit) return implicitRole(element);
  // "presentation" does not hold for what can be focused.
  if (explicit === 'presentation' || explicit === 'none') return element.tabIndex >= 0 ? implicitRole(element) : '';
  return explicit;
};

// ---- accessible names (accname, reduced) ----

const NAMED_BY_CONTENT = new Set(('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio '
  + 'option radio row rowheader switch tab tooltip treeitem').split(' '));
const TEXTLESS = new Set(['script', 'style', 'noscript', 'template']);

// A tree can be deeper than the stack; what lies deeper than this names nothing.
const NAME_DEPTH = 300;
let nameDepth = 0;
// The field whose label is read: what it holds is not part of its own name.
let labelled = null;
// Whether an `aria-labelledby` is followed: from there on no other one is.
let following = false;
// Whether what is read is hidden as a whole, and names something all the same.
let hiddenToo = false;

const contentText = node => {
  if (nameDepth >= NAME_DEPTH) return '';
  nameDepth++;
  try {
    return contentOf(node);
  } finally {
    nameDepth--;
  }
};

const contentOf = node => {
  const only = onlyText(node);
  if (only) return only.data;
  let text = '';
  for (const child of childrenOf(node)) {
    if (child.nodeType === Node.TEXT_NODE) text += child.data;
    if (child.nodeType !== Node.ELEMENT_NODE || child === labelled || TEXTLESS.has(child.localName)) continue;
    const style = getComputedStyle(child);
    if (!hiddenToo && (child.getAttribute('aria-hidden') === 'true'
      || style.display === 'none' || (style.visibility !== 'visible' && style.display !== 'contents'))) continue;
    const own = ownText(child);
    text += (style.display === 'inline' && child.localName !== 'br') || style.display === 'contents' ? own : ` ${own} `;
  }
  return text;
};

// What an element contributes to the name of one around it.
const ownText = element => {
  const bare = !element.hasAttributes();
  if (!bare) {
    const label = labelledBy(element) || element.getAttribute('aria-label');
    if (label && label.trim()) return label;
  }
  switch (element.localName) {
    case 'img': case 'area': return element.getAttribute('alt') || element.getAttribute('title') || '';
    case 'input': return /^(checkbox|color|file|hidden|image|password|radio)$/.test(element.type) ? '' : element.value;
    case 'textarea': return element.value;
    case 'select': return [...element.selectedOptions].map(option => option.label).join(' ');
    case 'svg': { const title = element.querySelector(':scope > title'); return title ? title.textContent : ''; }
  }
  const text = contentText(element);
  return !bare && element.hasAttribute('title') && !normalize(text) ? element.getAttribute('title') : text;
};

// What names another element does so even when it is hidden.
const namingText = (element, read) => {
  const outer = hiddenToo;
  hiddenToo ||= !!element.firstElementChild && !isRendered(element);
  try {
    return read(element);
  } finally {
    hiddenToo = outer;
  }
};

const labelledBy = element => {
  const ids = !following && element.getAttribute('aria-labelledby');
  if (!ids) return '';
  const root = element.getRootNode();
  following = true;
  try {
    return normalize(ids.split(/\s+/).map(id => id && root.getElementById && root.getElementById(id)).filter(Boolean)
      .map(named => namingText(named, ownText)).join(' '));
  } finally {
    following = false;
  }
};

// `element.labels` looks through the whole tree each time, which ten thousand buttons can't afford: all labels of a tree are
// looked at once, for as long as no other script can run.
let labelsByTree = null;
const labelsOf = element => {
  if (!labelsByTree) {
    labelsByTree = new Map();
    queueMicrotask(() => { labelsByTree = null });
  }
  const root = element.getRootNode();
  let labels = labelsByTree.get(root);
  if (!labels) {
    labels = new Map();
    for (const label of root.querySelectorAll('label')) {
      if (label.control) labels.set(label.control, [...labels.get(label.control) || [], label]);
    }
    labelsByTree.set(root, labels);
  }
  return labels.get(element) || [];
};

// What styles put into an element that holds nothing. The letters of icon fonts say nothing to people.
const drawnText = element => normalize(['::before', '::after'].map(part => {
  const content = /^"((?:[^"\\]|\\.)*)"/.exec(getComputedStyle(element, part).content);
  return content ? content[1].replace(/\\(.)/g, '$1').replace(/\p{Co}/gu, '') : '';
}).join(' '));

// What has a part that names it.
const CAPTIONS = { __proto__: null, fieldset: 'legend', table: 'caption', figure: 'figcaption', svg: 'title' };

const nameOf = (element, role = roleOf(element)) => {
  const bare = !element.hasAttributes();
  const others = !bare && labelledBy(element);
  if (others) return others;
  const label = !bare && normalize(element.getAttribute('aria-label'));
  if (label) return label;

  const tag = element.localName;
  const type = tag === 'input' ? element.type : '';
  if (type === 'submit' || type === 'reset' || type === 'button') {
    if (normalize(element.value)) return normalize(element.value);
    if (type !== 'button' && !element.hasAttribute('value')) return type === 'submit' ? 'Submit' : 'Reset';
  }
  const labelling = labelsOf(element);
  if (labelling.length) {
    const outer = labelled;
    labelled = element;
    const labels = normalize(labelling.map(label => namingText(label, contentText)).join(' '));
    labelled = outer;
    if (labels) return labels;
  }
  if (tag === 'img' || tag === 'area' || type === 'image') {
    const alternative = normalize(element.getAttribute('alt'));
    if (alternative) return alternative;
  }
  const part = CAPTIONS[tag];
  const caption = part && element.querySelector(`:scope > ${part}`);
  if (caption && normalize(caption.textContent)) return normalize(caption.textContent);
  if (NAMED_BY_CONTENT.has(role)) {
    const content = normalize(contentText(element)) || drawnText(element);
    if (content) return content;
  }
  if (bare) return '';
  const other = normalize(element.getAttribute('title') || element.getAttribute('placeholder') || element.getAttribute('aria-placeholder'));
  if (!other && tag === 'optgroup') return normalize(element.label);
  return !other && type === 'file' ? 'Choose File' : other;
};

// ---- states ----

const stateOf = (element, state) => {
  const aria = element.getAttribute(`aria-${state}`);
  switch (state) {
    case 'checked':
      if (element.localName === 'input' && /^(checkbox|radio)$/.test(element.type)) return element.indeterminate ? 'mixed' : element.checked;
      return aria === 'mixed' ? 'mixed' : aria === 'true';
    case 'disabled': return isDisabled(element);
    case 'selected': return element.localName === 'option' ? element.selected : aria === 'true';
    case 'expanded':
      if (element.localName === 'details') return element.open;
      if (element.localName === 'summary' && element.parentElement instanceof HTMLDetailsElement) return element.parentElement.open;
      // What says nothing of it can't be.
      return aria === 'true' ? true : aria === 'false' ? false : null;
    case 'pressed': return aria === 'mixed' ? 'mixed' : aria === 'true';
    case 'level': {
      const level = element.getAttribute('aria-level');
      return level ? Number(level) : /^h[1-6]$/.test(element.localName) ? Number(element.localName[1]) : 0;
    }
  }
  return null;
};
