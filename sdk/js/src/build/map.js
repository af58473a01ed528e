// Source maps, version 3, with the author's sources only.
import { decoded } from '../guest/map.js';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function digits(number) {
    let left = number < 0 ? (-number << 1) | 1 : number << 1;
    let text = '';
    do {
        const more = left >>> 5;
        text += DIGITS[(left & 31) | (more > 0 ? 32 : 0)];
        left = more;
    } while (left > 0);
    return text;
}

/** The mappings of those sources whose `own` is true, which are counted anew. Where another source begins, one ends. */
export function only(own, mappings) {
    const counted = own.map((_, index) => own.slice(0, index).filter(Boolean).length);
    const before = [0, 0, 0];
    return decoded(mappings)
        .map((places) => {
            let at = 0;
            let ours = false;
            const segments = [];
            for (const [column, source, ...place] of places) {
                if (!own[source] && !ours) continue;
                ours = own[source];
                let text = digits(column - at);
                at = column;
                if (ours) {
                    const now = [counted[source], ...place];
                    for (const [index, value] of now.entries()) text += digits(value - before[index]);
                    before.splice(0, 3, ...now);
                }
                segments.push(text);
            }
            return segments.join();
        })
        .join(';');
}
