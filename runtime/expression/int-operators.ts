import { add, divide, multiply, remainder, subtract } from "./arithmetic.ts"
import type { Apply, CelClosure, CelFrame } from "./closures.ts"
import { intMax, intMin } from "./values.ts"

// Operators for operands of declared type int: same results as the general ones, without inspecting the operands' types.

type Int = bigint | number

// Between bigint and number comparisons are exact in JavaScript, which saves turning numbers of the host into bigints.
// biome-ignore lint/suspicious/noDoubleEquals: the exact comparison of two numeric types is wanted.
const areEqual = (left: Int, right: Int) => left == right

const comparisons: ReadonlyMap<string, (left: Int, right: Int) => boolean> = new Map<
  string,
  (left: Int, right: Int) => boolean
>([
  ["==", areEqual],
  ["!=", (left, right) => !areEqual(left, right)],
  ["<", (left, right) => left < right],
  ["<=", (left, right) => left <= right],
  [">", (left, right) => left > right],
  [">=", (left, right) => left >= right],
])

/** The comparison of two ints, each a bigint or a safe whole number; undefined if the sign is no comparison. */
export function intComparison(sign: string): Apply | undefined {
  return comparisons.get(sign) as Apply | undefined
}

/**
 * A comparison whose second operand is a constant. Each sign has a closure of its own, so that engines can inline it. The closure compares with a
 * constant of the same JavaScript type, because engines are slow at comparing a bigint with a number.
 */
export function compareWithConstant(sign: string, left: CelClosure, right: Int): CelClosure | undefined {
  const big = BigInt(right)
  const value = left as (frame: CelFrame) => Int
  switch (sign) {
    case "<":
      return (frame) => {
        const given = value(frame)
        return typeof given === "bigint" ? given < big : given < right
      }
    case "<=":
      return (frame) => {
        const given = value(frame)
        return typeof given === "bigint" ? given <= big : given <= right
      }
    case ">":
      return (frame) => {
        const given = value(frame)
        return typeof given === "bigint" ? given > big : given > right
      }
    case ">=":
      return (frame) => {
        const given = value(frame)
        return typeof given === "bigint" ? given >= big : given >= right
      }
    case "==":
      return (frame) => {
        const given = value(frame)
        return typeof given === "bigint" ? given === big : areEqual(given, right)
      }
    case "!=":
      return (frame) => {
        const given = value(frame)
        return typeof given === "bigint" ? given !== big : !areEqual(given, right)
      }
    default:
      return undefined
  }
}

function fits(value: bigint): boolean {
  return value <= intMax && value >= intMin
}

/** Arithmetic of two ints. Overflows and operands that are not bigints go to the general operators. */
const arithmetic: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  [
    "+",
    (left, right) => {
      if (typeof left !== "bigint" || typeof right !== "bigint") return add(left, right)
      const sum = left + right
      return fits(sum) ? sum : add(left, right)
    },
  ],
  [
    "-",
    (left, right) => {
      if (typeof left !== "bigint" || typeof right !== "bigint") return subtract(left, right)
      const difference = left - right
      return fits(difference) ? difference : subtract(left, right)
    },
  ],
  [
    "*",
    (left, right) => {
      if (typeof left !== "bigint" || typeof right !== "bigint") return multiply(left, right)
      const product = left * right
      return fits(product) ? product : multiply(left, right)
    },
  ],
  [
    "/",
    (left, right) => {
      if (typeof left !== "bigint" || typeof right !== "bigint" || right <= 0n) return divide(left, right)
      return left / right
    },
  ],
  [
    "%",
    (left, right) => {
      if (typeof left !== "bigint" || typeof right !== "bigint" || right <= 0n) return remainder(left, right)
      return left % right
    },
  ],
])

/** The arithmetic of two ints; undefined if the sign is no arithmetic operator. */
export function intArithmetic(sign: string): Apply | undefined {
  return arithmetic.get(sign)
}
