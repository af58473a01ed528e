// The API that scripts and plugins share: the table of options says of every call which it has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import api from '../src/api/index.js';
import { AnyOf, Finder, Locator } from '../src/api/locators.js';
import * as tables from '../src/api/options.js';

const native = { call: (name) => (name === 'browser.open' ? '0' : 'null'), encode: (text) => new TextEncoder().encode(text) };
const { names } = api(native, { taskId: 't', number: 1, tool: 'a', input: {} });
const methods = (prototype) => Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');

test('every call says which options it has', () => {
    const { FINDER, ELEMENT, LOCATOR, LOCATOR_NOW, LOCATOR_LATER, PAGE, PAGE_NOW, PAGE_LATER, KEYBOARD, MOUSE, CONTEXT, BROWSER, HTTP, ARTIFACTS } = tables;
    const all = [
        [methods(Finder.prototype), FINDER],
        [methods(Locator.prototype), LOCATOR, LOCATOR_NOW, LOCATOR_LATER],
        [methods(Object.getPrototypeOf(names.page)), PAGE, PAGE_NOW, PAGE_LATER, ELEMENT],
        [methods(names.page.keyboard), KEYBOARD],
        [methods(names.page.mouse), MOUSE],
        [methods(names.context), CONTEXT, { pages: undefined }],
        [methods(names.browser), BROWSER, { contexts: undefined }],
        [methods(names.http), HTTP],
        [methods(names.artifacts), ARTIFACTS],
    ];
    for (const [found, ...listed] of all) assert.deepEqual(found.sort(), [...new Set(listed.flatMap(Object.keys))].sort());
    assert.deepEqual(methods(AnyOf.prototype).sort(), ['change', 'found', 'waitFor', 'waitForElements']);
});

test('every option has a type', () => {
    const types = readFileSync(new URL('../src/windlass.d.ts', import.meta.url), 'utf8');
    const options = Object.values(tables).filter((table) => typeof table === 'object').flatMap(Object.values).flatMap((call) => call?.[1] ?? []);
    assert.ok(options.length > 100, String(options.length));
    assert.deepEqual([...new Set(options)].filter((name) => !new RegExp(`\\b${name}\\??:`).test(types)), []);
});

test('a call fails for an option as it fails for other reasons', async () => {
    const refused = { code: 'invalid', message: 'click has no option `force`: there are timeout, button, modifiers, position, clickCount' };
    await assert.rejects(names.page.click('#a', { force: true }), refused);
    await assert.rejects(names.page.locator('#a').click({ force: true }), refused);
    await assert.rejects(Promise.resolve(names.page.waitForText('a', { state: 'x' })), { message: 'waitForText has no option `state`: there are timeout, gone' });
    assert.throws(() => names.page.getByText('a', { trim: true }), { message: 'getByText has no option `trim`: there are exact' });
    await assert.rejects(names.page.url({ timeout: 1 }), { message: 'url has no option `timeout`: it has none' });
    assert.deepEqual(['a', 'b'].map(names.page.getByTestId, names.page).map(String), ['testid="a"s', 'testid="b"s']);
});
