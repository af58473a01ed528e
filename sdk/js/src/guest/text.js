// UTF-8, which QuickJS has no function for.

const CHUNK = 8192;

/** A lone half of a surrogate pair becomes U+FFFD, as in browsers. */
export function encode(text) {
    const bytes = new Uint8Array(text.length * 3);
    let at = 0;
    for (let index = 0; index < text.length; index++) {
        let code = text.charCodeAt(index);
        if (code < 0x80) {
            bytes[at++] = code;
            continue;
        }
        if (code >= 0xd800 && code < 0xe000) {
            code = text.codePointAt(index);
            if (code >= 0x10000) index++;
            else code = 0xfffd;
        }
        if (code < 0x800) {
            bytes[at++] = 0xc0 | (code >> 6);
        } else if (code < 0x10000) {
            bytes[at++] = 0xe0 | (code >> 12);
            bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
        } else {
            bytes[at++] = 0xf0 | (code >> 18);
            bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
            bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
        }
        bytes[at++] = 0x80 | (code & 0x3f);
    }
    return bytes.slice(0, at);
}

/** How a first byte goes on: bytes that follow, its bits, and the bounds of the second byte (WHATWG Encoding, section 8.1.1). */
function sequence(byte) {
    if (byte >= 0xc2 && byte < 0xe0) return [1, byte & 0x1f, 0x80, 0xbf];
    if (byte >= 0xe0 && byte < 0xf0) return [2, byte & 0x0f, byte === 0xe0 ? 0xa0 : 0x80, byte === 0xed ? 0x9f : 0xbf];
    if (byte >= 0xf0 && byte < 0xf5) return [3, byte & 0x07, byte === 0xf0 ? 0x90 : 0x80, byte === 0xf4 ? 0x8f : 0xbf];
    return [0, 0xfffd, 0, 0];
}

/** What is no UTF-8 becomes U+FFFD. */
export function decode(bytes) {
    let text = '';
    let at = 0;
    while (at < bytes.length) {
        const start = at;
        while (at < bytes.length && bytes[at] < 0x80 && at - start < CHUNK) at++;
        if (at > start) {
            text += String.fromCharCode.apply(undefined, bytes.subarray(start, at));
            continue;
        }
        let [more, code, low, high] = sequence(bytes[at++]);
        for (; more > 0; more--, low = 0x80, high = 0xbf) {
            if (!(bytes[at] >= low && bytes[at] <= high)) {
                code = 0xfffd;
                break;
            }
            code = (code << 6) | (bytes[at++] & 0x3f);
        }
        text += String.fromCodePoint(code);
    }
    return text;
}
