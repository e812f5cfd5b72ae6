import { many, oneOf, type StatementRow, slot, word } from "./row.ts"

export const record: StatementRow = {
  keyword: "record",
  forms: [{ args: [], block: "record", blockRequired: true }],
  byDefault: "requests are not recorded",
  docs: "Records a share of the requests in encrypted files, for `sallyport replay`: what was asked, by whom, and what became of it. Credentials are never recorded. A disk that is full or slow never delays or refuses a request.",
  example: 'record { folder "traffic"; encrypt-with traffic_key; claims "sub" "scope" }',
}

export const recordRows: readonly StatementRow[] = [
  {
    keyword: "folder",
    required: true,
    forms: [{ args: [slot("folder", "constant", { max: 1000, label: '"FOLDER"' })] }],
    docs: "The folder of the files, below the folder of the project or absolute. It is made if it is missing. Several processes may share it.",
    example: 'folder "traffic"',
  },
  {
    keyword: "encrypt-with",
    required: true,
    forms: [{ args: [slot("secret", "reference", { to: ["secret"], label: "SECRET" })] }],
    docs: "The secret that encrypts the files, with at least 22 characters; make one with `openssl rand -base64 32`. A replay needs the same secret.",
    example: "encrypt-with traffic_key",
  },
  {
    keyword: "sample",
    forms: [{ args: [slot("share", "percentage", { setting: "gateway.record.sample" })] }],
    byDefault: "1%",
    docs: "The share of requests that are recorded. The id of a request decides, so gateways behind each other that share ids record the same requests.",
    example: "sample 1%",
  },
  {
    keyword: "keep",
    forms: [
      { args: [slot("size", "size", { min: 2 ** 20, max: 2 ** 42, setting: "gateway.record.bytesMax" })] },
    ],
    byDefault: "1GB",
    docs: "The size of all files in the folder together. Beyond it the oldest ones are deleted.",
    example: "keep 1GB",
  },
  {
    keyword: "claims",
    several: true,
    forms: [{ args: [many(slot("claim", "constant", { max: 256, label: '"CLAIM"' }), 100)] }],
    byDefault: 'only `iss`, `aud` and times; "sub" as a pseudonym',
    docs: "Claims of tokens that are recorded as they are. Without one that a plan reads, a replay cannot tell what becomes of the request, and says so.",
    example: 'claims "sub" "scope"',
  },
  {
    keyword: "headers",
    several: true,
    forms: [{ args: [many(slot("header", "header-name"), 100)] }],
    byDefault: "the usual ones, such as Accept and Content-Type, and those that the plan reads",
    docs: "Header fields of requests and responses that are recorded as well. A new plan that reads another field cannot be replayed, and the replay says so. Fields with credentials are never recorded.",
    example: 'headers "X-Tenant"',
  },
  {
    keyword: "redact",
    several: 100,
    forms: [
      {
        args: [
          oneOf(
            [word("header"), many(slot("header", "header-name"), 100)],
            [word("query"), many(slot("query", "query-name"), 100)],
          ),
        ],
      },
    ],
    byDefault: "only credentials are left out",
    docs: "Header fields of requests and responses, or query parameters, whose values are not recorded.",
    example: 'redact header "X-Patient"',
  },
  {
    keyword: "addresses",
    forms: [{ args: [word("whole")] }],
    byDefault: "only networks: /24 of IPv4, /48 of IPv6",
    docs: "Records the whole addresses of clients. A replay needs them to judge `allow` and `deny` with smaller networks.",
    example: "addresses whole",
  },
]
