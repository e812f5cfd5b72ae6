/** A store's revision as clients hold it: opaque to them. */
export function consistencyToken(revision: number): string {
  return Buffer.from(`r1.${revision}`, "latin1").toString("base64url")
}
