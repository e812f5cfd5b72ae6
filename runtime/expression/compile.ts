import type { Environment } from "./environment.ts"

/**
 * Values of the variables by name (own properties only, a missing one is the error `no-such-key`).
 * The JavaScript forms of the values, in and out:
 * bool boolean · int bigint (in: also a safe integer number where the declared type is int) · uint `Uint` · double number ·
 * string string · bytes Uint8Array · null null · list array · map `CelMap` or a JSON object (in), `CelMap` or the
 * JSON object that came in (out) · timestamp `Timestamp` (in: also Date) · duration `Duration` · object types: any object;
 * declared fields are read as properties (getters and prototypes of classes work), undeclared ones as own properties only.
 * Where the type is `dyn`, JSON values are taken as they are; a whole JSON number counts as an int beside an int.
 */
export type Bindings = Readonly<Record<string, unknown>>

/** Evaluates with these bindings. @throws ExpressionError when there is no value. */
export type CompiledExpression = (bindings: Bindings) => unknown

/** `costMax` bounds the work of one evaluation; default 100,000 steps (an operator or a loop's step is one, long texts count more). */
export interface CompileOptions {
  readonly costMax?: number
}

/**
 * Makes a function of an expression; all parsing, checking and choosing of overloads happens here.
 * @throws TypeError when `checkExpression` has findings for the source: check first, this is the runtime's half.
 */
export declare function compileExpression(
  source: string,
  environment: Environment,
  options?: CompileOptions,
): CompiledExpression

/**
 * The text of a value inside `${…}`: a string as it is, bool, int, uint, double, timestamp (RFC 3339) and duration (`90s`)
 * as CEL's `string()` writes them. @throws ExpressionError (`type`) for lists, maps, null and other things.
 */
export declare function toText(value: unknown): string

/**
 * The JSON value of a value: int and uint become numbers when that is exact and strings when not (as in protobuf's JSON),
 * timestamps and durations strings, bytes base64. @throws ExpressionError (`type`) for what JSON can't hold (NaN, infinities, types).
 */
export declare function toJson(value: unknown): unknown
