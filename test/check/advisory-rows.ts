/** One store, and questions put to it one after the other; each list is complete. */
export interface Advisory {
  /** The family, and the CVEs it was seen in. */
  readonly name: string
  readonly model: string
  readonly tuples: readonly string[]
  readonly steps: readonly Step[]
}

/** A question with its own circumstances; tuples are `object relation user [condition]`. */
export interface Step {
  readonly context?: Readonly<Record<string, unknown>>
  readonly contextual?: readonly string[]
  /** `object relation user` → the answer. */
  readonly check?: Readonly<Record<string, boolean | string>>
  /** `type relation user` → objects. */
  readonly objects?: Readonly<Record<string, readonly string[] | string>>
  /** `object relation type[#relation]` → users, those beyond a wildcard with a `-` before them. */
  readonly users?: Readonly<Record<string, readonly string[]>>
}

const narrowed = `
type user
type group
  relations
    define member: [user]
    define viewer: [user]
type folder
  relations
    define viewer: [user]
type doc
  relations
    define parent: [folder]
    define viewer: [user] or viewer from parent
    define seen: [user] but not viewer
`

const excluded = `
type user
type group
  relations
    define member: [user, group#member]
type folder
  relations
    define blocked: [user, group#member]
    define viewer: [user, user:*]
type doc
  relations
    define parent: [folder]
    define assigned: [user, user:*, group#member]
    define viewer: assigned but not blocked from parent
    define both: assigned and viewer from parent
    define neither: viewer but not both
`

const conditioned = `
type user
type doc
  relations
    define viewer: [user, user with fresh, user:* with fresh]
    define editor: [user with fresh] but not viewer
condition fresh(age: int) {
  age < 10
}
`

const rings = `
type user
type team
  relations
    define member: [user, team#member]
    define outside: [user] but not member
`

/** Replays of what OpenFGA's security advisories are about, family by family. */
export const advisories: readonly Advisory[] = [
  {
    name: "tuples that an earlier model allowed count nowhere (CVE-2022-23542)",
    model: narrowed,
    tuples: [
      "doc:1 viewer group:g#member",
      "group:g member user:ann",
      "doc:1 viewer user:*",
      "doc:1 parent group:g",
      "group:g viewer user:bob",
      "doc:1 seen user:ann",
      "doc:2 viewer user:cat",
      "doc:1 gone user:ann",
      "lost:1 viewer user:ann",
    ],
    steps: [
      {
        check: {
          "doc:1 viewer user:ann": false,
          "doc:1 viewer user:bob": false,
          "doc:1 viewer user:*": false,
          "doc:1 viewer group:g#member": false,
          "doc:1 seen user:ann": true,
        },
        objects: {
          "doc viewer user:ann": [],
          "doc viewer user:cat": ["doc:2"],
          "doc seen user:ann": ["doc:1"],
        },
        users: {
          "doc:1 viewer user": [],
          "doc:2 viewer user": ["user:cat"],
          "doc:1 viewer group#member": [],
        },
      },
    ],
  },
  {
    name: "an exclusion behind `from`, with usersets and wildcards, in check and in lists (CVE-2023-40579, CVE-2024-31452, CVE-2024-42473)",
    model: excluded,
    tuples: [
      "doc:1 parent folder:a",
      "doc:2 parent folder:b",
      "doc:3 parent folder:a",
      "doc:1 assigned group:all#member",
      "doc:2 assigned group:all#member",
      "doc:3 assigned user:*",
      "group:all member group:some#member",
      "group:some member user:ann",
      "group:all member user:bob",
      "folder:a blocked group:some#member",
      "folder:b viewer user:*",
    ],
    steps: [
      {
        check: {
          "doc:1 viewer user:ann": false,
          "doc:1 viewer user:bob": true,
          "doc:2 viewer user:ann": true,
          "doc:3 viewer user:ann": false,
          "doc:3 viewer user:cat": true,
          "doc:3 viewer user:*": true,
          "doc:2 both user:ann": true,
          "doc:1 both user:bob": false,
          "doc:2 neither user:ann": false,
          "doc:1 neither user:bob": true,
          "doc:1 viewer group:some#member": false,
          "doc:1 viewer group:all#member": true,
        },
        objects: {
          "doc viewer user:ann": ["doc:2"],
          "doc viewer user:bob": ["doc:1", "doc:2", "doc:3"],
          "doc viewer user:cat": ["doc:3"],
          "doc both user:ann": ["doc:2"],
          "doc neither user:bob": ["doc:1", "doc:3"],
          "doc neither user:ann": [],
        },
        users: {
          "doc:1 viewer user": ["user:bob"],
          "doc:2 viewer user": ["user:ann", "user:bob"],
          "doc:2 both user": ["user:ann", "user:bob"],
          "doc:2 neither user": [],
        },
      },
    ],
  },
  {
    name: "users whom an exclusion takes out of a wildcard are not listed (CVE-2026-61709)",
    model: excluded,
    tuples: [
      "doc:1 parent folder:a",
      "doc:1 assigned user:*",
      "doc:1 assigned user:ann",
      "doc:1 assigned user:bob",
      "folder:a blocked user:ann",
      "folder:a blocked group:x#member",
      "group:x member user:cat",
    ],
    steps: [
      {
        users: { "doc:1 viewer user": ["user:*", "user:bob", "-user:ann", "-user:cat"] },
        check: {
          "doc:1 viewer user:ann": false,
          "doc:1 viewer user:cat": false,
          "doc:1 viewer user:dan": true,
        },
      },
    ],
  },
  {
    name: "what a condition said under one context says nothing under another (CVE-2024-56323, CVE-2026-33729)",
    model: conditioned,
    tuples: ["doc:1 viewer user:ann fresh", "doc:2 viewer user:* fresh", "doc:3 editor user:bob fresh"],
    steps: [
      {
        context: { age: 1 },
        check: {
          "doc:1 viewer user:ann": true,
          "doc:2 viewer user:bob": true,
          "doc:3 editor user:bob": true,
        },
        objects: { "doc viewer user:ann": ["doc:1", "doc:2"] },
        users: { "doc:2 viewer user": ["user:*"] },
      },
      {
        context: { age: 20 },
        check: {
          "doc:1 viewer user:ann": false,
          "doc:2 viewer user:bob": false,
          "doc:3 editor user:bob": false,
        },
        objects: { "doc viewer user:ann": [] },
        users: { "doc:2 viewer user": [] },
      },
      {
        context: { age: 1 },
        contextual: ["doc:1 viewer user:ann", "doc:3 viewer user:bob"],
        check: { "doc:1 viewer user:ann": true, "doc:3 editor user:bob": false },
      },
      {
        context: { age: 20 },
        contextual: ["doc:1 viewer user:ann fresh"],
        check: { "doc:1 viewer user:ann": false },
        objects: { "doc viewer user:ann": [] },
      },
      { context: { age: 1 }, check: { "doc:1 viewer user:ann": true, "doc:3 viewer user:bob": false } },
    ],
  },
  {
    name: "a wildcard without the condition that its restriction asks for does not count (CVE-2025-64751)",
    model: conditioned,
    tuples: ["doc:1 viewer user:*", "doc:2 viewer user:ann"],
    steps: [
      {
        context: { age: 1 },
        check: {
          "doc:1 viewer user:ann": false,
          "doc:1 viewer user:*": false,
          "doc:2 viewer user:ann": true,
        },
        objects: { "doc viewer user:ann": ["doc:2"] },
        users: { "doc:1 viewer user": [] },
      },
    ],
  },
  {
    name: "what is false because of a cycle is not false elsewhere (CVE-2025-46331), and cycles end (CVE-2023-35933, CVE-2023-43645)",
    model: rings,
    tuples: [
      "team:a member team:b#member",
      "team:b member team:a#member",
      "team:b member team:c#member",
      "team:c member team:c#member",
      "team:c member user:ann",
      "team:a outside user:bob",
      "team:a outside user:ann",
    ],
    steps: [
      { check: { "team:a member user:bob": false, "team:b member user:bob": false } },
      {
        check: {
          "team:b member user:ann": true,
          "team:a member user:ann": true,
          "team:c member user:ann": true,
        },
      },
      {
        check: { "team:a outside user:bob": true, "team:a outside user:ann": false },
        objects: { "team member user:ann": ["team:a", "team:b", "team:c"], "team member user:bob": [] },
        users: {
          "team:a member user": ["user:ann"],
          "team:a member team#member": ["team:a#member", "team:b#member", "team:c#member"],
          "team:a outside user": ["user:bob"],
        },
      },
    ],
  },
  {
    name: "contextual tuples obey the restrictions too (CVE-2025-48371)",
    model: narrowed,
    tuples: ["group:g member user:ann"],
    steps: [
      {
        contextual: ["doc:1 viewer group:g#member"],
        check: {
          "doc:1 viewer user:ann":
            "invalid_tuple: Invalid tuple 'doc:1#viewer@group:g#member'. Reason: 'group#member' is not an allowed type restriction for 'doc#viewer'",
        },
        objects: {
          "doc viewer user:ann":
            "invalid_tuple: Invalid tuple 'doc:1#viewer@group:g#member'. Reason: 'group#member' is not an allowed type restriction for 'doc#viewer'",
        },
      },
    ],
  },
  {
    name: "names that differ in case are different (CVE-2026-55170)",
    model: narrowed,
    tuples: ["doc:One viewer user:Ann"],
    steps: [
      {
        check: {
          "doc:One viewer user:Ann": true,
          "doc:one viewer user:Ann": false,
          "doc:One viewer user:ann": false,
        },
        objects: { "doc viewer user:ann": [], "doc viewer user:Ann": ["doc:One"] },
        users: { "doc:one viewer user": [], "doc:One viewer user": ["user:Ann"] },
      },
    ],
  },
]
