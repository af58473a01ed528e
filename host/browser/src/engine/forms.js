// Forms: filling in, choosing, checking.

const TYPED = new Set(['', 'email', 'number', 'password', 'search', 'tel', 'text', 'url']);
const SET = new Set(['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week']);

// What the page hears when a person has chosen a value.
const announce = element => {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
};

// What has the focus while a part of a text is edited: the whole.
const editingHost = element => {
  if (!element.isContentEditable) return element;
  if (document.designMode === 'on') return document.body;
  let host = element;
  while (host.parentElement && host.parentElement.isContentEditable) host = host.parentElement;
  return host;
};

const hasFocus = element => element.getRootNode().activeElement === element;

const unfocused = element => failed(closestInTree(element, '[inert]') ? 'inert' : 'focus', { matched: 1, element: describe(element) });

// Focused and selected, so that what is typed replaces what is there; a page may take the focus
// away again.
const select = (element, selectAll) => {
  const host = editingHost(element);
  host.focus();
  if (!hasFocus(host)) return unfocused(element);
  selectAll();
  return { how: 'insert' };
};

// Of a date and a time a page may be told with a blank between them, as people write them, and with seconds that are none;
// of a number with zeros at its end.
const isSameValue = (type, taken, value) => {
  if (taken === value) return true;
  if (!taken || type === 'color') return false;
  if (type === 'range') return value !== '' && Number(taken) === Number(value);
  const short = moment => moment.replace(/^([\d-]+) ([\d:.]+)$/, '$1T$2').replace(/(:\d\d:\d\d\.\d*?)0+$/, '$1').replace(/\.$/, '').replace(/(:\d\d):00$/, '$1');
  return short(taken) === short(value);
};

const fillInput = (element, text) => {
  const type = element.type;
  if (SET.has(type)) {
    const value = type === 'color' ? text.trim().toLowerCase() : text.trim();
    element.focus();
    const before = element.value;
    element.value = value;
    const taken = element.value;
    if (!isSameValue(type, taken, value)) {
      element.value = before;
      const instead = taken ? `: it would be "${taken}"` : '';
      return failed('value', { final: true, message: `an input of type ${type} does not take this value${instead}` });
    }
    announce(element);
    return { how: 'set' };
  }
  if (!TYPED.has(type)) return failed('fillable', { final: true, message: `an input of type ${type} can't be filled in` });
  if (type === 'number' && text.trim() !== '' && Number.isNaN(Number(text))) {
    return failed('value', { final: true, message: 'an input of type number takes a number' });
  }
  return select(element, () => element.select());
};

// A text is a value or a label; {value}, {label} and {index} are what they say.
const optionBy = (options, wanted) => {
  const { value = wanted, label = wanted, index } = wanted;
  if (index != null) return options[index];
  const labelled = () => options.find(option => normalize(option.label) === normalize(label));
  if (wanted.label != null) return labelled();
  return options.find(option => option.value === value) || (wanted.value == null ? labelled() : undefined);
};

const spoken = wanted => {
  const [[by, text]] = typeof wanted === 'string' ? [['value or label', wanted]] : Object.entries(wanted);
  return `${by} ${JSON.stringify(text)}`;
};

// These options, and no others; answers {selected: values}.
const choose = (element, wanted) => {
  if (element.localName !== 'select') return failed('select', { final: true, message: `${describe(element)} has no options to select` });
  if (!element.multiple && wanted.length !== 1) return failed('select', { final: true, message: 'this list takes exactly one option' });
  const options = [...element.options];
  const chosen = new Set();
  for (const one of wanted) {
    const option = optionBy(options, one);
    if (!option) return failed('option', { matched: 1, message: `no option has the ${spoken(one)}` });
    if (option.disabled || option.parentElement.disabled) return failed('option', { matched: 1, message: `the option of ${spoken(one)} is disabled` });
    chosen.add(option);
  }
  element.focus();
  for (const option of options) option.selected = chosen.has(option);
  announce(element);
  return { how: 'set', selected: [...chosen].map(option => option.value.toWellFormed()) };
};

const fillElement = (element, text) => {
  if (element.localName === 'select') return choose(element, [text]);
  if (element.localName === 'input') return fillInput(element, text);
  if (element.localName === 'textarea') return select(element, () => element.select());
  if (!element.isContentEditable) return failed('fillable', { final: true, message: `${describe(element)} can't be filled in` });
  return select(element, () => getSelection().selectAllChildren(element));
};

// What stands for itself, wherever it is.
const OWN_FIELD = 'a, button, input, optgroup, option, select, textarea, [role=button], [role=checkbox], [role=link], [role=radio], [role=switch]';

// The field that stands behind a match: a label stands for its own, and so does what it holds. What is within a button, or
// a box that the page draws itself, stands for that.
const fieldOf = element => {
  if (isMatch(element, OWN_FIELD) || element.isContentEditable) return element;
  const around = closestInTree(element, `label, ${OWN_FIELD}`);
  if (!around || isMatch(around, 'a, optgroup, option, select, [role=link]')) return element;
  return around.localName === 'label' ? around.control || element : around;
};

const takesKeys = element => {
  if (!isRendered(element)) return failed('visible', { matched: 1, element: describe(element) });
  return isDisabled(element) ? failed('enabled', { matched: 1, element: describe(element) }) : null;
};

const editable = (element, readOnlyCounts) => {
  if (!isSeen(element)) return failed('visible', { matched: 1, element: describe(element) });
  if (isDisabled(element)) return failed('enabled', { matched: 1, element: describe(element) });
  if (readOnlyCounts && (element.readOnly || closestInTree(element, '[aria-readonly="true"]'))) {
    return failed('editable', { matched: 1, element: describe(element) });
  }
  scrollIntoView(element);
  return null;
};

const CHECKABLE = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'treeitem', 'option']);

// 'true', 'false' or 'mixed'; null for what can't be checked.
const checkedOf = match => {
  const element = fieldOf(match);
  return CHECKABLE.has(roleOf(element)) ? String(stateOf(element, 'checked')) : null;
};
