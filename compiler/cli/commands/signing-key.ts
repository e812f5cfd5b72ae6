import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileReason } from "../../../runtime/plan/file-reason.ts"
import { signerKeyText } from "../../../runtime/plan/seal.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { textOf } from "../options.ts"
import { readSigningKey } from "../signing-key.ts"

interface SigningKeyArgs {
  readonly file: string
  /** Undefined: the key gets no name. */
  readonly name: string | undefined
}

const nameOption = ["--name <name>", "name of the key, for the history"] as const

function parse([file]: readonly string[], options: Parameters<typeof textOf>[0]): SigningKeyArgs {
  if (file === undefined) throw new CliError("the command needs the file of the key")
  return { file, name: textOf(options, "name") }
}

const createLine: CommandLine<SigningKeyArgs> = {
  operands: [["<file>", "where to write the private key; an existing file is never overwritten"]],
  options: [nameOption],
  examples: [
    [
      "sallyport signing-key create ci.key --name ci",
      "make an Ed25519 key, and print the statement for gateway.conf",
    ],
  ],
  parse,
}

/** Writes a private key that only this user can read, and prints the statement with the public key. */
export const signingKeyCreate = command(createLine, async ({ file, name }, io) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  try {
    const pem = privateKey.export({ format: "pem", type: "pkcs8" })
    writeFileSync(resolve(io.cwd, file), pem, { flag: "wx", mode: 0o600 })
  } catch (error) {
    throw new CliError(
      `the key cannot be written to ${file}: ${fileReason(error)}`,
      "Name a new file in an existing folder that this user may write to.",
    )
  }
  io.out(statementOf(publicKey, name))
  io.err(`The private key is in ${file}. Who has it can sign plans: keep it in the secrets of the CI.\n`)
  return exitCode.ok
})

const showLine: CommandLine<SigningKeyArgs> = {
  operands: [["<file>", "file of the private key"]],
  options: [nameOption],
  examples: [["sallyport signing-key show ci.key --name ci", "print the statement for gateway.conf"]],
  parse,
}

/** Prints the statement with the public key of a private key. */
export const signingKeyShow = command(showLine, async ({ file, name }, io) => {
  io.out(statementOf(createPublicKey(readSigningKey(io, file)), name))
  return exitCode.ok
})

function statementOf(key: KeyObject, name: string | undefined): string {
  return `signers "${signerKeyText(key)}${name === undefined ? "" : ` ${name}`}"\n`
}
