import { CsEnum } from "../collections.ts"
import { CsException } from "../errors.ts"
import { declareType } from "../table.ts"

export type Row = (...values: never[]) => unknown

export const failed = (message: string): CsException => new CsException("CryptographicException", message)

/** Runs an operation of node's crypto and converts its errors to CryptographicException. */
export function attempt<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof CsException) throw error
    throw failed(
      error instanceof Error ? error.message.replace(/^error:[0-9A-F]*:/i, "") : "The operation failed.",
    )
  }
}

export const plain = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

/** Declares named constants of padding and hash choices, which are almost enumerations. */
export function declareChoice(type: string, names: readonly string[]): void {
  const rows: Record<string, Row> = {}
  names.forEach((name, index) => {
    const value = new CsEnum(`System.Security.Cryptography.${type}`, [name], index + 1)
    rows[`static ${name}: ${type}`] = () => value
  })
  declareType(
    type,
    { value: true, holds: (value) => value instanceof CsEnum && value.typeName.endsWith(`.${type}`) },
    {
      ...rows,
      "static default(): object": () =>
        new CsEnum(`System.Security.Cryptography.${type}`, [names[0] as string], 1),
    },
  )
}
