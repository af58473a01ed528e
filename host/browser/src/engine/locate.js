// From a locator to elements, and the words for an element in a message.

// All matches below `root`, through open shadow roots.
const queryAll = (root, selector) => {
  const found = [...root.querySelectorAll(selector)];
  const within = root.shadowRoot ? [root.shadowRoot] : [];
  for (const element of root.querySelectorAll('*')) if (element.shadowRoot) within.push(element.shadowRoot);
  for (const shadow of within) found.push(...queryAll(shadow, selector));
  return found;
};

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
};

// An exact name is compared as it is; otherwise a part is enough, whatever its case.
const nameMatches = (name, wanted, exact) =>
  exact ? name === normalize(wanted) : name.toLowerCase().includes(normalize(wanted).toLowerCase());

const byRole = (root, step) => queryAll(root, ROLE_CANDIDATES[step.role] || '*').filter(element =>
  roleOf(element) === step.role && !isHiddenFromAria(element)
  && (step.name == null || nameMatches(nameOf(element, step.role), step.name, step.exact)));

// Each step looks inside the matches of the one before.
const locate = steps => {
  let roots = [document];
  for (const step of steps) {
    const found = new Set();
    for (const root of roots) {
      for (const element of step.role ? byRole(root, step) : queryAll(root, step.css)) found.add(element);
    }
    roots = [...found];
  }
  return roots;
};

const describe = element => {
  if (!element) return 'nothing';
  // By attribute: a form answers `form.id` with its field of that name.
  const id = element.getAttribute('id') ? `#${element.getAttribute('id')}` : '';
  const type = element.localName === 'input' ? ` type=${element.type}` : '';
  let text = normalize(nameOf(element) || element.textContent);
  if (text.length > 40) text = `${text.slice(0, 40)}…`;
  return `<${element.localName}${id}${type}>${text ? ` "${text}"` : ''}`.toWellFormed();
};
