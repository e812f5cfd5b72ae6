import type { Io } from "./io.ts"

/** Prints an answer as one JSON document, whose schema is in `output-schemas.ts`, or as text for people. */
export function print<Answer>(
  io: Io,
  format: "text" | "json",
  answer: Answer,
  text: (answer: Answer) => string,
): void {
  io.out(format === "json" ? jsonDocument(answer) : text(answer))
}

/** One JSON document with its line break. */
export function jsonDocument(answer: unknown): string {
  return `${JSON.stringify(answer, null, 2)}\n`
}
