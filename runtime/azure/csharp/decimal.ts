import { badFormat, CsException, overflow } from "./errors.ts"
import { CsObject } from "./values.ts"

/** Limits of System.Decimal: digits after the point, and the largest mantissa (2^96 - 1). */
const scaleMax = 28
const mantissaMax = 79228162514264337593543950335n

/** System.Decimal: exact decimal digits; results with more than 28 of them are rounded half to even. */
export class Decimal extends CsObject {
  readonly typeName = "System.Decimal"
  readonly mantissa: bigint
  readonly scale: number

  /** Rounds half to even until scale and mantissa fit into 96 bits, as .NET does after each operation. */
  constructor(mantissa: bigint, scale: number) {
    super()
    let [m, s] = [mantissa, scale]
    while (s > 0 && (s > scaleMax || (m < 0n ? -m : m) > mantissaMax)) {
      const drop = Math.max(1, s - scaleMax)
      m = divideHalfEven(m, 10n ** BigInt(drop))
      s -= drop
    }
    if ((m < 0n ? -m : m) > mantissaMax)
      throw overflow("Value was either too large or too small for a Decimal.")
    this.mantissa = m
    this.scale = s
  }

  /**
   * Thousands separators and an exponent are allowed. The number of digits is limited, because a BigInt of any length would block the
   * process.
   */
  static parse(text: string): Decimal {
    const found = /^\s*([+-]?)([0-9,]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?\s*$/.exec(text)
    const [, sign, whole = "", part = "", exponent = "0"] = found ?? []
    const digits = whole.replaceAll(",", "") + part
    if (found === null || digits === "" || digits.length > 200) throw badFormat()
    const scale = part.length - Number(exponent)
    const m = BigInt(digits) * (sign === "-" ? -1n : 1n)
    return scale < 0 ? new Decimal(m * 10n ** BigInt(-scale), 0) : new Decimal(m, scale)
  }
  /** Like .NET: 15 significant digits of the double. */
  static fromDouble(value: number): Decimal {
    if (!Number.isFinite(value)) throw overflow("Value was either too large or too small for a Decimal.")
    return trim(Decimal.parse(Number(value.toPrecision(15)).toExponential()))
  }
  static fromInt(value: number | bigint): Decimal {
    return new Decimal(BigInt(value), 0)
  }

  add(other: Decimal): Decimal {
    const [a, b, scale] = aligned(this, other)
    return new Decimal(a + b, scale)
  }
  subtract(other: Decimal): Decimal {
    const [a, b, scale] = aligned(this, other)
    return new Decimal(a - b, scale)
  }
  multiply(other: Decimal): Decimal {
    return new Decimal(this.mantissa * other.mantissa, this.scale + other.scale)
  }
  divide(other: Decimal): Decimal {
    if (other.mantissa === 0n) throw new CsException("DivideByZeroException", "Attempted to divide by zero.")
    const shift = scaleMax + 1 + other.scale - this.scale
    const lifted = this.mantissa * 10n ** BigInt(Math.max(0, shift))
    const lowered = other.mantissa * 10n ** BigInt(Math.max(0, -shift))
    return trim(new Decimal(divideHalfEven(lifted, lowered), scaleMax + 1))
  }
  remainder(other: Decimal): Decimal {
    if (other.mantissa === 0n) throw new CsException("DivideByZeroException", "Attempted to divide by zero.")
    const [a, b, scale] = aligned(this, other)
    return new Decimal(a % b, scale)
  }
  negate(): Decimal {
    return new Decimal(-this.mantissa, this.scale)
  }
  compareTo(other: unknown): number {
    const [a, b] = aligned(this, other as Decimal)
    return a < b ? -1 : a > b ? 1 : 0
  }
  /** `digits` after the point; `away`: halves are rounded away from zero, otherwise to even. */
  round(digits: number, away: boolean): Decimal {
    if (digits >= this.scale) return this
    const unit = 10n ** BigInt(this.scale - digits)
    if (!away) return new Decimal(divideHalfEven(this.mantissa, unit), digits)
    const half = this.mantissa < 0n ? -unit / 2n : unit / 2n
    return new Decimal((this.mantissa + half) / unit, digits)
  }
  /** Truncates toward zero. */
  truncate(): bigint {
    return this.mantissa / 10n ** BigInt(this.scale)
  }
  toNumber(): number {
    return Number(this.text())
  }
  override text(): string {
    const digits = (this.mantissa < 0n ? -this.mantissa : this.mantissa)
      .toString()
      .padStart(this.scale + 1, "0")
    const sign = this.mantissa < 0n ? "-" : ""
    if (this.scale === 0) return `${sign}${digits}`
    return `${sign}${digits.slice(0, -this.scale)}.${digits.slice(-this.scale)}`
  }
  override same(other: unknown): boolean {
    return other instanceof Decimal && this.compareTo(other) === 0
  }
  override hash(): unknown {
    return `decimal:${trim(this).text()}`
  }
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [a.mantissa * 10n ** BigInt(scale - a.scale), b.mantissa * 10n ** BigInt(scale - b.scale), scale]
}

function divideHalfEven(a: bigint, b: bigint): bigint {
  const negative = a < 0n !== b < 0n
  const [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b]
  let quotient = x / y
  const twice = (x % y) * 2n
  if (twice > y || (twice === y && quotient % 2n === 1n)) quotient++
  return negative ? -quotient : quotient
}

function trim(value: Decimal): Decimal {
  let { mantissa, scale } = value
  while (scale > 0 && mantissa % 10n === 0n) {
    mantissa /= 10n
    scale--
  }
  return new Decimal(mantissa, scale)
}
