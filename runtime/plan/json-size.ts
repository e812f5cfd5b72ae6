/** Values and names of a JSON body that is read, where the plan says nothing else. Reading so many takes some 15 ms at worst: names that are all different. */
export const jsonValuesDefault = 60_000

const [quote, backslash, comma, colon, bracket, brace] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b]

/** Whether a text of JSON has more than `most` values and names of members. It is not judged otherwise: what is no JSON has any answer. */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  // Each but the first stands behind one of these.
  if (json.length <= most) return false
  let count = 1
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = endOfText(json, at)
    else if (byte === comma || byte === colon || byte === bracket || byte === brace) {
      count += 1
      if (count > most) return true
    }
  }
  return count > most
}

function endOfText(json: Uint8Array, open: number): number {
  let at = open + 1
  for (; at < json.length && json[at] !== quote; at += 1) if (json[at] === backslash) at += 1
  return at
}
