// Promises whose jobs the guest runs itself.
//
// A call of the host blocks, and the turn's `run` is a plain function, so nobody would run the engine's own jobs before it
// returns. The build turns `async` functions into generators, and these promises drive them: `run.js` empties the queue
// between two waits, and hears of each rejection that nobody handles. What they do, and in which order, is what ECMA-262
// says of promises (section 27.2).

const jobs = [];
let next = 0;

/** Runs all jobs, and those that they add. */
export function drain() {
    for (; next < jobs.length; next++) {
        const job = jobs[next];
        jobs[next] = undefined;
        job();
    }
    jobs.length = next = 0;
}

/** Hears of a promise that is rejected without a handler, and again (`handled`) when it gets one. */
let watcher = (_promise, _reason, _handled) => {};
export const watch = (heard) => void (watcher = heard);

const PENDING = 0;
const FULFILLED = 1;
const REJECTED = 2;
const callable = (value) => typeof value === 'function';

export class Promise {
    #state = PENDING;
    #value = undefined;
    #handled = false;
    /** `[onFulfilled, onRejected, resolve, reject]` of each `then` before it was settled. */
    #reactions = [];

    constructor(executor) {
        if (!callable(executor)) throw new TypeError('Promise resolver is not a function');
        const { resolve, reject } = this.#functions();
        try {
            executor(resolve, reject);
        } catch (error) {
            reject(error);
        }
    }

    /** The two functions that settle it, of which the first call counts. */
    #functions() {
        let called = false;
        const once = (settle) => (value) => {
            if (called) return;
            called = true;
            settle(value);
        };
        return { resolve: once((value) => this.#resolve(value)), reject: once((reason) => this.#settle(REJECTED, reason)) };
    }

    #resolve(value) {
        if (value === this) return this.#settle(REJECTED, new TypeError('promise self resolution'));
        if (value === null || (typeof value !== 'object' && !callable(value))) return this.#settle(FULFILLED, value);
        let then;
        try {
            then = value.then;
        } catch (error) {
            return this.#settle(REJECTED, error);
        }
        if (!callable(then)) return this.#settle(FULFILLED, value);
        jobs.push(() => {
            const { resolve, reject } = this.#functions();
            try {
                then.call(value, resolve, reject);
            } catch (error) {
                reject(error);
            }
        });
    }

    #settle(state, value) {
        this.#state = state;
        this.#value = value;
        const reactions = this.#reactions;
        this.#reactions = undefined;
        if (state === REJECTED && !this.#handled) watcher(this, value, false);
        for (const reaction of reactions) jobs.push(() => this.#react(reaction));
    }

    #react([onFulfilled, onRejected, resolve, reject]) {
        const handler = this.#state === FULFILLED ? onFulfilled : onRejected;
        if (!callable(handler)) return this.#state === FULFILLED ? resolve(this.#value) : reject(this.#value);
        let value;
        try {
            value = handler(this.#value);
        } catch (error) {
            return reject(error);
        }
        resolve(value);
    }

    then(onFulfilled, onRejected) {
        const { promise, resolve, reject } = capability(species(this));
        const reaction = [onFulfilled, onRejected, resolve, reject];
        if (this.#state === PENDING) this.#reactions.push(reaction);
        else jobs.push(() => this.#react(reaction));
        if (this.#state === REJECTED && !this.#handled) watcher(this, this.#value, true);
        this.#handled = true;
        return promise;
    }

    catch(onRejected) {
        return this.then(undefined, onRejected);
    }

    finally(work) {
        if (!callable(work)) return this.then(work, work);
        const Made = species(this);
        return this.then(
            (value) => Made.resolve(work()).then(() => value),
            (reason) =>
                Made.resolve(work()).then(() => {
                    throw reason;
                }),
        );
    }

    get [Symbol.toStringTag]() {
        return 'Promise';
    }

    static get [Symbol.species]() {
        return this;
    }

    static resolve(value) {
        if (value instanceof Promise && value.constructor === this) return value;
        return new this((resolve) => resolve(value));
    }

    static reject(reason) {
        return new this((_, reject) => reject(reason));
    }

    static withResolvers() {
        return capability(this);
    }

    static try(work, ...values) {
        return new this((resolve) => resolve(work(...values)));
    }

    static all(items) {
        return gather(this, items, (all, index) => [keep(all, index), all.reject]);
    }

    static allSettled(items) {
        return gather(this, items, (all, index) => [
            keep(all, index, (value) => ({ status: 'fulfilled', value })),
            keep(all, index, (reason) => ({ status: 'rejected', reason })),
        ]);
    }

    static any(items) {
        const end = ({ values, reject }) => reject(new AggregateError(values, 'All promises were rejected'));
        return gather(this, items, (all, index) => [all.resolve, keep(all, index)], end);
    }

    static race(items) {
        return new this((resolve, reject) => {
            for (const item of items) this.resolve(item).then(resolve, reject);
        });
    }
}

function species(promise) {
    const Made = promise.constructor;
    return Made === Promise || Made === undefined ? Promise : (Made[Symbol.species] ?? Promise);
}

function capability(Made) {
    let resolve, reject;
    const promise = new Made((a, b) => {
        resolve = a;
        reject = b;
    });
    return { promise, resolve, reject };
}

/** A handler that keeps one of many values; the last one ends all of them. */
function keep(all, index, made = (value) => value) {
    let called = false;
    return (value) => {
        if (called) return;
        called = true;
        all.values[index] = made(value);
        if (--all.left === 0) all.end(all);
    };
}

/** A promise of many: `handlers` makes the two of one. */
function gather(Made, items, handlers, end = ({ values, resolve }) => resolve(values)) {
    const { promise, resolve, reject } = capability(Made);
    // One more than there are items, until the last of them is known.
    const all = { values: [], left: 1, resolve, reject, end };
    try {
        let index = 0;
        for (const item of items) {
            all.left++;
            all.values.push(undefined);
            Made.resolve(item).then(...handlers(all, index++));
        }
        if (--all.left === 0) end(all);
    } catch (error) {
        reject(error);
    }
    return promise;
}

/** Puts them in the place of the engine's own. */
export function install() {
    const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
    define('Promise', Promise);
    define('queueMicrotask', (work) => void Promise.resolve().then(work));
    // It answers a promise of the engine's own.
    delete Array.fromAsync;
}
