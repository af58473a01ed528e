// The guest's promises do what the engine's do, in the same order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Promise as Guest, drain, watch } from '../src/guest/promise.js';

/** Each gets a class of promises and a function that notes. */
const PROGRAMS = {
    'then in order'(P, note) {
        const one = P.resolve(1);
        one.then((v) => note(`a${v}`)).then(() => note('c'));
        one.then((v) => note(`b${v}`)).then(() => note('d'));
        note('sync');
    },
    'a promise in a promise takes two more turns'(P, note) {
        P.resolve().then(() => P.resolve(4)).then(note);
        P.resolve().then(() => note(1)).then(() => note(2)).then(() => note(3)).then(() => note(5)).then(() => note(6));
    },
    'thenables'(P, note) {
        new P((resolve) => resolve({ then: (done) => (note('then'), done('value'), done('twice')) })).then(note);
        new P((resolve) => resolve({ get then() { throw new Error('getter'); } })).catch((e) => note(e.message));
        new P((resolve) => resolve({ then() { throw new Error('thrown'); } })).catch((e) => note(e.message));
        new P((resolve) => resolve({ then(done) { done(1); throw new Error('late'); } })).then(note);
        new P((resolve) => resolve({ then: 'no function' })).then((v) => note(typeof v));
    },
    'errors go on to a catch'(P, note) {
        P.reject(new Error('x')).then(() => note('never')).then(() => note('never')).catch((e) => { note(e.message); return 'on'; }).then(note);
        new P(() => { throw new RangeError('in'); }).catch((e) => note(e.name));
        P.resolve(1).then('no function', null).then(note);
        P.reject(2).then(null).catch(note);
    },
    'only the first settles'(P, note) {
        new P((resolve, reject) => { resolve(1); reject(2); resolve(3); throw new Error('4'); }).then(note, note);
        new P((resolve, reject) => { reject(2); resolve(1); }).then(note, note);
        new P((resolve, reject) => { resolve(new P((done) => P.resolve().then(() => done('inner')))); reject(1); }).then(note, note);
    },
    'a promise of itself'(P, note) {
        const { promise, resolve } = P.withResolvers();
        resolve(promise);
        promise.catch((e) => note(e instanceof TypeError));
    },
    'finally'(P, note) {
        P.resolve(1).finally((...given) => { note(`f${given.length}`); return 2; }).then(note);
        P.reject(3).finally(() => 4).catch(note);
        P.resolve(5).finally(() => { throw 6; }).catch(note);
        P.resolve(7).finally(() => P.reject(8)).catch(note);
        P.resolve(9).finally(undefined).then(note);
    },
    'all'(P, note) {
        P.all([1, P.resolve(2), { then: (done) => done(3) }]).then((v) => note(v.join()));
        P.all([]).then((v) => note(`empty${v.length}`));
        P.all([P.resolve(1), P.reject('no'), P.reject('also')]).catch(note);
        P.all(new Set(['x', 'y'])).then((v) => note(v.join()));
        P.all(5).catch((e) => note(e instanceof TypeError));
    },
    'allSettled, any, race'(P, note) {
        P.allSettled([1, P.reject('no')]).then((v) => note(JSON.stringify(v)));
        P.any([P.reject(1), P.resolve(2), P.resolve(3)]).then(note);
        P.any([P.reject('a'), P.reject('b')]).catch((e) => note(`${e.constructor.name} ${e.errors.join()}`));
        P.any([]).catch((e) => note(e.errors.length));
        P.race([new P(() => {}), P.resolve('first'), P.resolve('second')]).then(note);
        P.race([P.reject('lost'), P.resolve('won')]).catch(note);
    },
    'a class of its own'(P, note) {
        class Mine extends P {}
        const mine = Mine.resolve(1);
        note(mine instanceof Mine, mine.then(() => {}) instanceof Mine, Mine.all([mine]) instanceof Mine);
        note(P.resolve(mine) === mine, Mine.resolve(mine) === mine);
        mine.finally(() => note('f')).then(note);
    },
    'what it is'(P, note) {
        note(Object.prototype.toString.call(P.resolve()), P.resolve().constructor === P, typeof P.try, P.prototype.then.length);
        try { P(() => {}); } catch (e) { note(e instanceof TypeError); }
        try { new P(); } catch (e) { note(e instanceof TypeError); }
        P.try((a, b) => a + b, 1, 2).then(note);
        P.try(() => { throw 3; }).catch(note);
    },
};
if (!Promise.try) Promise.try = function (work, ...values) { return new this((resolve) => resolve(work(...values))); };
if (!Promise.withResolvers) Promise.withResolvers = function () { let a, b; const promise = new this((x, y) => { a = x; b = y; }); return { promise, resolve: a, reject: b }; };

for (const [name, program] of Object.entries(PROGRAMS)) {
    test(name, async () => {
        const wanted = [];
        program(Promise, (...values) => wanted.push(values.join(' ')));
        await new Promise((done) => setImmediate(done));
        const seen = [];
        program(Guest, (...values) => seen.push(values.join(' ')));
        drain();
        assert.deepEqual(seen, wanted);
    });
}

test('a rejection that nobody handles is heard of, and that it is handled later', () => {
    const heard = [];
    watch((promise, reason, handled) => heard.push(`${reason} ${handled}`));
    const late = Guest.reject('late');
    Guest.reject('handled').catch(() => {});
    Guest.resolve().then(() => { throw 'lost'; });
    drain();
    late.catch(() => {});
    drain();
    watch(() => {});
    assert.deepEqual(heard, ['late false', 'handled false', 'handled true', 'lost false', 'late true']);
});
