// Writes doubles with a number of decimals, from their exact value. JavaScript's toFixed rounds 2.5 to 3; all other implementations of the language
// round halves to even.

/** A finite double without its sign: mantissa × 2^exponent. */
function binaryParts(value: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xf_ffff_ffff_ffffn
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 }
}

/** |value| × 10^power, rounded half to even. */
function scaled(value: number, power: number): bigint {
  const { mantissa, exponent } = binaryParts(value)
  let numerator = mantissa
  let denominator = 1n
  if (power >= 0) numerator *= 10n ** BigInt(power)
  else denominator = 10n ** BigInt(-power)
  if (exponent >= 0) numerator <<= BigInt(exponent)
  else denominator <<= BigInt(-exponent)
  const quotient = numerator / denominator
  const twice = (numerator % denominator) * 2n
  const isUp = twice > denominator || (twice === denominator && quotient % 2n === 1n)
  return isUp ? quotient + 1n : quotient
}

function withPoint(digits: string, decimals: number): string {
  if (decimals === 0) return digits
  const padded = digits.padStart(decimals + 1, "0")
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
}

function signOf(value: number): string {
  return value < 0 || Object.is(value, -0) ? "-" : ""
}

/** `-12.50`: a finite double with this many decimals. */
export function fixedPoint(value: number, decimals: number): string {
  return signOf(value) + withPoint(scaled(value, decimals).toString(), decimals)
}

/** `1.25e+02`: a finite double with this many decimals before a power of ten of at least two digits. */
export function scientific(value: number, decimals: number): string {
  let power = value === 0 ? 0 : Number(value.toExponential(100).split("e")[1])
  let digits = scaled(value, decimals - power).toString()
  if (digits.length > decimals + 1) {
    // Rounding reached the next power of ten.
    power++
    digits = scaled(value, decimals - power).toString()
  }
  const size = Math.abs(power).toString().padStart(2, "0")
  return `${signOf(value)}${withPoint(digits.padEnd(decimals + 1, "0"), decimals)}e${power < 0 ? "-" : "+"}${size}`
}

/** The shortest digits of a double, without an exponent: `100000000000000000000000`. */
export function plainDecimal(value: number): string {
  const [digits = "", power] = Math.abs(value).toExponential().split("e")
  const [whole = "", fraction = ""] = digits.split(".")
  const shift = Number(power)
  if (shift < 0) return `${signOf(value)}0.${"0".repeat(-shift - 1)}${whole}${fraction}`
  const moved = `${whole}${fraction.padEnd(shift, "0").slice(0, shift)}`
  const rest = fraction.slice(shift)
  return `${signOf(value)}${moved}${rest === "" ? "" : `.${rest}`}`
}
