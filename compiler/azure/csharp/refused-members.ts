/** Members of Azure API Management that programs here never get: why, and what to write instead. Keys: type and member. */
const refused: Readonly<Record<string, string>> = {
  "ISubscription.PrimaryKey":
    "Keys are kept as digests, so nobody can show one again: `context.Subscription.Key` is the key the request came with.",
  "ISubscription.SecondaryKey":
    "Keys are kept as digests, so nobody can show one again: `context.Subscription.Key` is the key the request came with.",
}

/** Why a type has no such member; undefined where that is not a matter of choice. */
export function refusalOfMember(type: string, name: string): string | undefined {
  const key = `${type}.${name}`
  return Object.hasOwn(refused, key) ? refused[key] : undefined
}
