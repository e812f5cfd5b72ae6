import type { FastifyReply } from "fastify"
import type * as z from "zod"
import { problemsOf } from "../plan/read.ts"
import { sendProblem } from "./problem.ts"

/** Parses a body by its shape. When it is invalid, sends a problem with the first mistake and returns undefined. */
export function bodyOf<Shape extends z.ZodType>(
  shape: Shape,
  body: unknown,
  reply: FastifyReply,
): z.infer<Shape> | undefined {
  const read = shape.safeParse(body)
  if (read.success) return read.data
  const [problem] = problemsOf(read.error)
  sendProblem(reply, "bad-request", `${problem?.path || "the body"}: ${problem?.message ?? "is invalid"}`)
  return undefined
}
