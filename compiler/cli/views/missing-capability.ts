/** Something that Sallyport uses of the database server. */
interface Tried {
  readonly name: string
  readonly isPresent: boolean
  readonly reason?: string | null | undefined
  readonly without?: string | null | undefined
}

/** A line about a capability that the database server lacks; empty when it has it. */
export function missingText({ name, isPresent, reason, without }: Tried): string {
  if (isPresent) return ""
  return `The database server has no ${name}: ${reason ?? "unknown"}. So ${without ?? "Sallyport cannot work on it"}.\n`
}
