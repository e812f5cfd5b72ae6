export interface Row {
  readonly name: string
  readonly model: string
  readonly tuples?: readonly string[]
  readonly contextual?: readonly string[]
  readonly context?: Readonly<Record<string, unknown>>
  /** Question to `true`, `false` or the error: its code, and after a colon its message. */
  readonly ask: Readonly<Record<string, boolean | string>>
}

export const conditioned = `
type user
type group
  relations
    define member: [user, user:* with open]
type doc
  relations
    define seen: [group#member]
    define viewer: [user with open, user with both, user with one] or editor
    define editor: [user]
    define parent: [group, group with open]
    define above: member from parent
    define hidden: [user] but not seen
    define shown: [user:* with open]
condition open(x: int) {
  x < 10
}
condition both(x: int, z: string, a: bool) {
  x < 10 && a && z == "z"
}
condition one(x: int, z: string, unread: bool) {
  x < 10 || z == "z"
}
`

/** What a condition makes of values that are missing, and whose value counts. */
export const conditionRows: readonly Row[] = [
  {
    name: "missing parameters are an error that names the tuple and them, sorted",
    model: conditioned,
    tuples: ["doc:1 viewer user:ann if both"],
    ask: {
      "doc:1 viewer user:ann":
        "validation_error: failed to evaluate relationship condition: 'both' - tuple 'doc:1#viewer@user:ann' is missing context parameters '[a x z]'",
    },
  },
  {
    name: "a missing parameter that the check does not depend on is not an error",
    model: conditioned,
    tuples: ["doc:1 viewer user:ann if both", "doc:1 editor user:ann", "doc:2 hidden user:ann"],
    ask: { "doc:1 viewer user:ann": true, "doc:1 viewer user:bob": false, "doc:2 hidden user:ann": true },
  },
  {
    name: "a condition that is false whatever its other parameters are needs none of them",
    model: conditioned,
    tuples: ["doc:1 viewer user:ann if both"],
    context: { x: 50 },
    ask: { "doc:1 viewer user:ann": false },
  },
  {
    name: "one that holds whatever they are needs those it reads, as in OpenFGA",
    model: conditioned,
    tuples: ["doc:1 viewer user:ann if one"],
    context: { x: 5 },
    ask: {
      "doc:1 viewer user:ann":
        "validation_error: failed to evaluate relationship condition: 'one' - tuple 'doc:1#viewer@user:ann' is missing context parameters '[z]'",
    },
  },
  {
    name: "a parameter that is declared and not read may be missing",
    model: conditioned,
    tuples: ["doc:1 viewer user:ann if one"],
    context: { x: 5, z: "" },
    ask: { "doc:1 viewer user:ann": true },
  },
  {
    name: "the stored context wins over the request's",
    model: conditioned,
    tuples: ['doc:1 viewer user:ann if open {"x":5}', 'doc:2 viewer user:ann if open {"x":50}'],
    context: { x: 20 },
    ask: { "doc:1 viewer user:ann": true, "doc:2 viewer user:ann": false },
  },
]
