import { conditioned, conditionRows, type Row } from "./condition-rows.ts"

export const groups = `
type user
type employee
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define parent: [doc]
    define owner: [user]
    define viewer: [user, user:*, group#member] or owner or viewer from parent
    define reader: viewer but not blocked
    define blocked: [user, group#member]
`

const rings = `
type user
type node
  relations
    define next: [node]
    define side: [node]
    define alt: [node]
    define other: [node]
    define x: [user, user with open] or s from side or x from next
    define t: x from next
    define z: [user] or z from other
    define s: t and z
    define y: x from alt or x from other or z from alt
    define me: [node]
    define both: x from me and y from me
condition open(x: int) {
  x < 10
}
`

/** Faults other engines were seen with, and shapes their advisories name; plus what the wire contract promises. */
export const rows: Row[] = [
  {
    name: "what was false inside a ring counts anew when the ring turns out true",
    model: rings,
    tuples: [
      "node:0 me node:0",
      "node:0 next node:1",
      "node:1 next node:2",
      "node:2 next node:1",
      "node:1 next node:3",
      "node:3 x user:ann",
      "node:0 alt node:2",
    ],
    ask: { "node:0 both user:ann": true, "node:0 both user:bob": false },
  },
  {
    name: "and so does what was an error inside a ring",
    model: rings,
    tuples: [
      "node:0 me node:0",
      "node:0 next node:1",
      "node:1 next node:2",
      "node:2 next node:1",
      "node:1 next node:3",
      "node:3 x user:ann",
      "node:0 alt node:2",
      "node:2 x user:ann if open",
      "node:2 x user:bob if open",
    ],
    ask: {
      "node:0 both user:ann": true,
      "node:0 both user:bob":
        "validation_error: failed to evaluate relationship condition: 'open' - tuple 'node:2#x@user:bob' is missing context parameters '[x]'",
    },
  },
  {
    name: "and also when what it was part of ended false for another reason",
    model: rings,
    tuples: [
      "node:0 me node:0",
      "node:0 side node:1",
      "node:1 next node:2",
      "node:2 next node:0",
      "node:1 next node:3",
      "node:3 x user:ann",
      "node:1 other node:9",
      "node:0 next node:4",
      "node:4 x user:ann",
      "node:0 alt node:2",
    ],
    ask: { "node:0 both user:ann": true, "node:1 s user:ann": false },
  },
  {
    name: "exclusions in a ring are decided where something outside decides them, with conditions on the way",
    model: `
type user
type node
  relations
    define next: [node, node with open]
    define beaten: [user] or winner from next
    define winner: [user] but not beaten
condition open(x: int) {
  x < 10
}
`,
    tuples: [
      ...[1, 2, 5, 6, 7, 8, 9].map((at) => `node:${at} winner user:ann`),
      "node:1 next node:2",
      "node:1 next node:5",
      "node:2 next node:1",
      "node:7 next node:1",
      "node:7 next node:6 if open",
      'node:8 next node:6 if open {"x":1}',
      "node:8 next node:1",
      "node:9 next node:9",
    ],
    context: { x: 99 },
    ask: {
      "node:1 winner user:ann": false,
      "node:2 winner user:ann": true,
      "node:7 winner user:ann": true,
      "node:8 winner user:ann": false,
      "node:9 winner user:ann": false,
    },
  },
  {
    name: "a userset is in itself, under any name",
    model: groups,
    tuples: ["doc:2 parent doc:1"],
    ask: {
      "group:a member group:a#member": true,
      "doc:1 viewer doc:1#viewer": true,
      "doc:1 viewer doc:1#owner": true,
      "doc:2 viewer doc:1#owner": true,
      "doc:1 owner doc:1#viewer": false,
      "doc:2 viewer doc:1#blocked": false,
    },
  },
  {
    name: "a wildcard covers users of its type, and is asked about as itself",
    model: groups,
    tuples: ["doc:1 viewer user:*", "doc:2 viewer user:ann"],
    ask: {
      "doc:1 viewer user:anybody": true,
      "doc:1 viewer user:*": true,
      "doc:2 viewer user:*": false,
      "doc:1 viewer employee:eve": false,
    },
  },
  {
    name: "groups that contain each other lock nobody out and let nobody in",
    model: groups,
    tuples: [
      "doc:1 viewer user:jon",
      "doc:1 blocked group:a#member",
      "group:a member group:b#member",
      "group:b member group:a#member",
    ],
    ask: { "doc:1 reader user:jon": true, "doc:1 blocked user:jon": false, "group:a member user:jon": false },
  },
  {
    name: "a wildcard under a false condition does not hide the plain tuple beside it",
    model: conditioned,
    tuples: [
      "group:g member user:* if open",
      "group:g member user:ann",
      "doc:1 seen group:g#member",
      "doc:1 hidden user:ann",
      "doc:1 parent group:g",
    ],
    context: { x: 99 },
    ask: {
      "doc:1 seen user:ann": true,
      "doc:1 seen user:bob": false,
      "doc:1 hidden user:ann": false,
      "doc:1 above user:ann": true,
      "doc:1 above user:bob": false,
    },
  },
  {
    name: "an unconditioned wildcard does not count where only a conditioned one is allowed",
    model: conditioned,
    tuples: ["doc:1 shown user:*", "doc:2 shown user:* if open"],
    context: { x: 1 },
    ask: { "doc:1 shown user:ann": false, "doc:2 shown user:ann": true },
  },
  ...conditionRows,
  {
    name: "a malformed value is an error that names the tuple",
    model: conditioned,
    tuples: ["doc:1 viewer user:ann if open"],
    context: { x: "ten" },
    ask: {
      "doc:1 viewer user:ann":
        "validation_error: failed to evaluate relationship condition: parameter type error on condition 'open' - failed to convert context parameter 'x': expected a int value, but found string value 'ten' (tuple 'doc:1#viewer@user:ann')",
    },
  },
  {
    name: "a contextual tuple hides the stored one of the same key on every path",
    model: conditioned,
    tuples: ["doc:1 parent group:g", "group:g member user:ann", "doc:1 viewer user:ann if open"],
    contextual: ['doc:1 parent group:g if open {"x":99}', 'doc:1 viewer user:ann if open {"x":99}'],
    context: { x: 1 },
    ask: { "doc:1 above user:ann": false, "doc:1 viewer user:ann": false },
  },
  {
    name: "contextual tuples reach names the store does not have",
    model: groups,
    contextual: [
      "doc:new viewer group:new#member",
      "group:new member group:newer#member",
      "group:newer member user:new",
    ],
    ask: {
      "doc:new viewer user:new": true,
      "doc:new viewer user:other": false,
      "doc:new viewer group:newer#member": true,
    },
  },
  {
    name: "contextual tuples are validated as writes",
    model: conditioned,
    contextual: ["doc:1 editor user:*"],
    ask: {
      "doc:1 viewer user:ann":
        "invalid_tuple: Invalid tuple 'doc:1#editor@user:*'. Reason: the typed wildcard 'user:*' is not an allowed type restriction for 'doc#editor'",
    },
  },
  {
    name: "only plain objects stand behind from",
    model: groups,
    contextual: ["doc:1 parent doc:*"],
    ask: {
      "doc:1 viewer user:ann":
        "invalid_tuple: Invalid tuple 'doc:1#parent@doc:*'. Reason: unexpected wildcard relationship with tupleset relation 'doc#parent'",
    },
  },
  {
    name: "and no usersets",
    model: groups,
    contextual: ["doc:1 parent doc:2#viewer"],
    ask: {
      "doc:1 viewer user:ann":
        "invalid_tuple: Invalid tuple 'doc:1#parent@doc:2#viewer'. Reason: unexpected user 'doc:2#viewer' with tupleset relation 'doc#parent'",
    },
  },
  {
    name: "a contextual tuple needs its condition",
    model: conditioned,
    contextual: ["doc:1 viewer user:ann"],
    ask: {
      "doc:1 viewer user:ann":
        "validation_error: Invalid tuple 'doc:1#viewer@user:ann'. Reason: condition is missing",
    },
  },
  {
    name: "a contextual tuple needs a condition its restriction admits",
    model: conditioned,
    contextual: ["doc:1 shown user:* if both"],
    ask: {
      "doc:1 viewer user:ann":
        "validation_error: Invalid tuple 'doc:1#shown@user:*'. Reason: invalid condition for type restriction",
    },
  },
  {
    name: "the same contextual tuple may come twice",
    model: groups,
    contextual: ["doc:1 owner user:ann", "doc:1 owner user:ann"],
    ask: { "doc:1 viewer user:ann": true },
  },
  {
    name: "contextual tuples of one key may not contradict each other",
    model: conditioned,
    contextual: ['doc:1 viewer user:ann if open {"x":1}', 'doc:1 viewer user:ann if open {"x":50}'],
    ask: {
      "doc:1 viewer user:ann":
        "duplicate_contextual_tuple: duplicate contextual tuple in request: user: 'user:ann', relation: 'viewer', object: 'doc:1'",
    },
  },
  {
    name: "unknown names and malformed ones are told apart",
    model: groups,
    ask: {
      "doc:1 writer user:ann": "validation_error: relation 'doc#writer' not found",
      "file:1 viewer user:ann": "validation_error: type 'file' not found",
      "doc:1 viewer robot:r2": "validation_error: type 'robot' not found",
      "doc:1 viewer group:a#owner": "validation_error: relation 'group#owner' not found",
      "doc:* viewer user:ann":
        "validation_error: Invalid tuple 'doc:*#viewer@user:ann'. Reason: the 'object' field cannot reference a typed wildcard",
      "doc viewer user:ann":
        "validation_error: Invalid tuple 'doc#viewer@user:ann'. Reason: invalid 'object' field format",
      "doc:1 viewer a:b:c":
        "validation_error: Invalid tuple 'doc:1#viewer@a:b:c'. Reason: the 'user' field is malformed",
      "doc:1 viewer ann":
        "validation_error: Invalid tuple 'doc:1#viewer@ann'. Reason: the 'user' field must be an object (e.g. document:1) or an 'object#relation' or a typed wildcard (e.g. group:*)",
      "doc:1 viewer group:*#member":
        "validation_error: Invalid tuple 'doc:1#viewer@group:*#member'. Reason: the 'user' field cannot reference a typed wildcard in a userset value",
      "doc:1 viewer user:\ud800":
        "validation_error: Invalid tuple 'doc:1#viewer@user:\ud800'. Reason: the 'user' field is malformed",
      "doc:1 viewer user:\u3000": false,
    },
  },
  {
    name: "tuples of another model are ignored",
    model: groups,
    tuples: [
      "doc:1 owner employee:eve",
      "doc:1 owner user:*",
      "doc:1 viewer user:ann if open",
      "doc:1 parent user:ann",
      "doc:1 gone user:ann",
      "group:a member group:b#owner",
    ],
    ask: { "doc:1 viewer employee:eve": false, "doc:1 viewer user:ann": false },
  },
  {
    name: "names are compared exactly",
    model: groups,
    tuples: ["doc:Ä owner user:Zoë", "doc:a owner user:ann"],
    ask: {
      "doc:Ä viewer user:Zoë": true,
      "doc:ä viewer user:Zoë": false,
      "doc:A viewer user:ann": false,
      "doc:a viewer user:Ann": false,
    },
  },
]
