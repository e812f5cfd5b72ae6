const tokenText = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/** 1 for the characters of names and methods (RFC 9110 §5.6.2), by their code. */
export const isToken = new Uint8Array(256)
for (const character of tokenText) isToken[character.charCodeAt(0)] = 1

/** 1 for the characters of field values (RFC 9110 §5.5): visible characters, space, tab, and everything above ASCII. */
export const isValue = new Uint8Array(256)
for (let code = 0x20; code < 256; code += 1) isValue[code] = code === 0x7f ? 0 : 1
isValue[0x09] = 1

/** All other characters. A regular expression is twice as fast as checking each character of a long value. */
export const notValue = /[^\t\x20-\x7e\x80-\xff]/

export const cr = 13
export const lf = 10
