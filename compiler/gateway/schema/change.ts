import { many, type StatementRow, slot } from "./row.ts"

export const changeRows: readonly StatementRow[] = [
  {
    keyword: "signers",
    several: 20,
    forms: [{ args: [many(slot("key", "constant", { max: 512 }), 20)] }],
    byDefault: "plans need no signature",
    docs: "Public keys, each with a name after a blank. The next plan must be signed by one of them: `sallyport plan --sign FILE --out FILE`. Keys are Ed25519, or ECDSA on P-256 as sigstore has them, in one line: the base64 text of `openssl pkey -pubout`. `sallyport signing-key create FILE` makes one.",
    example: 'signers "MCowBQYDK2VwAyEAZ7x0ms5KzrBhIfbL1LkVwzXFBCyoLlVuYOYnxCF1Fpk= ci"',
  },
]
