import type { Bindings } from "../../runtime/expression/compile.ts"
import type { Declarations } from "../../runtime/expression/environment.ts"
import { parseDuration } from "../../runtime/expression/time.ts"
import { IpAddress, Timestamp, Uint } from "../../runtime/expression/values.ts"

/** What the expressions of the tables may name: every simple type, an object with methods, and the claims of a token. */
export const declarations: Declarations = {
  extended: true,
  variables: {
    i: "int",
    u: "uint",
    d: "double",
    s: "string",
    yes: "bool",
    t: "timestamp",
    r: "duration",
    ip: "ipaddress",
    l: "list<int>",
    m: "map<string, int>",
    any: "dyn",
    person: "Person",
    claims: "Claims",
  },
  objects: {
    Person: {
      fields: { name: "string", nick: "string", age: "int", address: "Address" },
      methods: { greet: { parameters: ["string"], returns: "string" } },
    },
    Address: { fields: { city: "string" } },
    Claims: { fields: {}, open: "dyn" },
  },
}

class Person {
  readonly age = 42
  readonly address = { city: "Bern" }

  get name(): string {
    return "Ann"
  }

  greet(word: string): string {
    return `${word} ${this.name}`
  }
}

const claims: unknown = JSON.parse(`{
  "sub": "ann", "level": 3, "ratio": 0.75, "roles": ["admin", "staff"], "none": null, "constructor": "me",
  "nested": { "deep": [{ "x": 1 }] }
}`)

export const bindings: Bindings = {
  i: 3,
  u: new Uint(4n),
  d: 2.5,
  s: "hello",
  yes: true,
  t: new Timestamp(1_769_846_400_000_000_000n),
  r: parseDuration("1h30m"),
  ip: new IpAddress(4, 0x0a010203n),
  l: [1, 2n, 3],
  m: { one: 1, two: 2 },
  any: 7,
  person: new Person(),
  claims,
}
