// Pieces of the guest: text, places, host calls.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { native } from '../src/guest/native.js';
import { decode, encode } from '../src/guest/text.js';

/** Numbers that look like chance, always the same. */
function numbers(seed) {
    let state = seed;
    return (limit) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state % limit;
    };
}

test('text becomes UTF-8 as in browsers', () => {
    const next = numbers(1);
    const texts = ['', 'abc', 'äöü€', '😀', 'a\ud800b', '\udc00', '\ud83d', '\uffff\u0000'];
    for (let n = 0; n < 500; n++) texts.push(String.fromCharCode(...Array.from({ length: next(20) }, () => [next(128), next(0x800), next(0x10000), 0xd800 + next(0x800)][next(4)])));
    for (const text of texts) assert.deepEqual(encode(text), new TextEncoder().encode(text));
});

test('UTF-8 becomes text as in browsers, also where it is broken', () => {
    const next = numbers(2);
    const reference = new TextDecoder('utf-8', { ignoreBOM: true });
    const all = [[], [0xef, 0xbb, 0xbf, 0x41], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf0, 0x9f, 0x98], [0xe2, 0x82, 0x41], [0xff]];
    for (let n = 0; n < 2000; n++) all.push(Array.from({ length: next(12) }, () => [next(128), 0x80 + next(64), 0xc0 + next(64), [0xe0, 0xed, 0xf0, 0xf4][next(4)]][next(4)]));
    all.push(Array.from({ length: 30_000 }, (_, n) => (n % 9000 === 0 ? 0xff : 97)));
    for (const bytes of all) assert.equal(decode(Uint8Array.from(bytes)), reference.decode(Uint8Array.from(bytes)), String(bytes));
});

test('arguments of another type are refused before the host sees them', () => {
    const made = native({ browser: { open: () => ({ fill() {} }) }, state: { set() {} }, task: { sleep() {} } });
    const refused = (name, ...values) => {
        try {
            made.call(name, JSON.stringify(values));
        } catch (error) {
            return `${error.code}: ${error.message}`;
        }
        return undefined;
    };
    assert.equal(refused('browser.open', {}), undefined);
    assert.equal(refused('page.fill', 0, '#q', 7, {}), 'invalid: page.fill: value must be text, not 7');
    assert.equal(refused('page.fill', 0, '#q', 'mug', { 'timeout-ms': 5 }), 'invalid: page.fill: timeout-ms must be text, not 5');
    assert.equal(refused('page.fill', 1, '#q', 'mug', {}), 'page-lost: the page is closed');
    assert.equal(refused('task.sleep', -1), 'invalid: task.sleep: time must be a number from 0, not -1');
    assert.equal(refused('page.dance', 0), 'unavailable: this host has no `page.dance` yet');
    assert.equal(refused('secrets.reveal', 'a'), 'denied: the plugin asks for no `reveal a`: add it to its permissions');
});

test('the verbs are those of scripts', () => {
    const engine = readFileSync(new URL('../../../plugins/script/src/calls.rs', import.meta.url), 'utf8');
    const verbs = [...engine.matchAll(/^ {8}"((?:page|browser)\.\w+)" =>/gm)].map(([, name]) => name);
    assert.ok(verbs.length > 40, String(verbs.length));
    const page = new Proxy({}, { get: () => () => undefined });
    const made = native({ browser: { open: () => page } });
    made.call('browser.open', '[{}]');
    const lacks = verbs.filter((name) => {
        try {
            made.call(name, '[]');
        } catch (error) {
            return error.code === 'unavailable';
        }
        return false;
    });
    assert.deepEqual(lacks, []);
});

test('what the host refuses is an error with its code and details', () => {
    const thrown = { code: 'denied', message: 'not granted', details: '{"grant":"browser https://a.example"}' };
    const made = native({ browser: { open() { throw thrown; } } });
    assert.throws(() => made.call('browser.open', '[{}]'), (error) => {
        assert.ok(error instanceof Error);
        assert.deepEqual({ code: error.code, message: error.message, details: error.details }, { ...thrown, details: { grant: 'browser https://a.example' } });
        return true;
    });
});

test('chance follows the seed', () => {
    const draw = (seed) => {
        const made = native({});
        made.begin(seed);
        return [made.random(), made.random()];
    };
    assert.deepEqual(draw(42), draw(42));
    assert.notDeepEqual(draw(42), draw(43));
    assert.ok(draw(7).every((one) => one >= 0 && one < 1));
    // The first of SplitMix64 with seed 0, its upper 53 bits.
    assert.equal(draw(0)[0], Number(0xe220a8397b1dcdafn >> 11n) / 2 ** 53);
});
