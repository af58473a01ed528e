// Time that passes: timers and `sleep`. All of it is waited for in the host, so it survives a restart.

import { shown } from './values.js';

const { Error, Promise, TypeError, Map, Number, Math, Date, Symbol } = globalThis;

/** A hundred years: whoever waits longer has not meant it. */
const LONGEST = 100 * 365 * 86_400_000;

/** Why nobody waits so long; undefined where somebody may. */
function unfit(name, time) {
    if (Number(time) >= 0 && Number(time) <= LONGEST) return undefined;
    return new TypeError(`${name} wants milliseconds${Number(time) > LONGEST ? ', a hundred years at most' : ''}, not ${shown(time)}`);
}

export function clockOf(call) {
    const timers = new Map();
    let timer = 0;
    function later(name, run, time, again) {
        const wait = Math.max(Number(time) || 0, 0);
        const wrong = unfit(name, wait);
        if (wrong) throw wrong;
        timers.set(++timer, { due: Date.now() + wait, run, wait: again ? Math.max(wait, 1) : undefined });
        return timer;
    }
    const setTimeout = (run, time, ...values) => later('setTimeout', () => run(...values), time, false);
    const setInterval = (run, time, ...values) => later('setInterval', () => run(...values), time, true);
    const clearTimeout = (id) => void timers.delete(id);

    /** Waits for the timer that is due first and runs it; false where there is none. */
    function tick() {
        let first;
        for (const [id, { due }] of timers) if (first === undefined || due < timers.get(first).due) first = id;
        if (first === undefined) return false;
        const { due, run, wait } = timers.get(first);
        const left = due - Date.now();
        if (left > 0) {
            try {
                call('task.sleep', left);
            } catch (error) {
                // The wait was cut short, and all that wait hear of it.
                const waiting = [...timers.values()];
                timers.clear();
                for (const one of waiting) one.fail?.(error);
                if (!waiting.some((one) => one.fail)) throw error;
                return true;
            }
        }
        if (wait === undefined) timers.delete(first);
        else timers.get(first).due = due + wait;
        run();
        return true;
    }

    function sleep(time) {
        const wrong = unfit('sleep', time);
        if (wrong) return Promise.reject(wrong);
        return new Promise((done, fail) => timers.set(++timer, { due: Date.now() + Number(time), run: done, fail }));
    }
    return { tick, sleep, timers: { setTimeout, setInterval, clearTimeout, clearInterval: clearTimeout } };
}

/**
 * A wait that begins when somebody waits for it. So `const popup = page.waitForEvent('popup'); await page.click('a');
 * await popup` works as in Playwright, though a call of the host holds everything up until it is answered.
 */
export class Later {
    #start;
    #promise;
    /** Whoever waits stands in no line of the script; whoever asked for it does. */
    #place = new Error().stack;
    constructor(start) { this.#start = start; }
    get #begun() { return (this.#promise ??= this.#run()); }
    async #run() {
        try {
            return await this.#start();
        } catch (error) {
            if (error instanceof Error) error.stack = `${error.stack}${this.#place}`;
            throw error;
        }
    }
    then(done, failed) { return this.#begun.then(done, failed); }
    catch(failed) { return this.#begun.catch(failed); }
    finally(run) { return this.#begun.finally(run); }
    get [Symbol.toStringTag]() { return 'Promise'; }
}
