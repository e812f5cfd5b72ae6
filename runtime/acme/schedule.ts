const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Part of the time of validity after which a certificate is renewed, and the part over which renewals are spread. */
const renewalPart = 2 / 3
const jitterPart = 1 / 50

/** Pauses after failed orders. Authorities limit failed validations, some to five in an hour for each account and host. */
const pausesMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, 6 * hourMs]
/** The shortest time between two orders of a certificate: a wrong clock, or a suggestion in the past, must not order without end. */
export const renewalMsMin = 10 * minuteMs
/** The longest pause that an authority may ask for. */
const pauseMsMax = 7 * 24 * hourMs

/** When a certificate is renewed: after two thirds of its time, later by up to 2 % of it at random. Times in milliseconds; `random` from 0 to 1. */
export function renewalOf(notBeforeMs: number, notAfterMs: number, random: number): number {
  return Math.round(notBeforeMs + (notAfterMs - notBeforeMs) * (renewalPart + random * jitterPart))
}

/**
 * When to try again after a number of failures in a row, later by up to a fifth of the pause at random. `askedMs`: the pause that the authority asks
 * for (Retry-After).
 */
export function retryOf(failures: number, nowMs: number, random: number, askedMs = 0): number {
  const pauseMs = pausesMs[Math.min(failures, pausesMs.length) - 1] ?? minuteMs
  return nowMs + Math.min(pauseMsMax, Math.max(askedMs, Math.round(pauseMs * (1 + random / 5))))
}

/** A period in which the authority wants the renewal (RFC 9773 §4.2). Times in milliseconds. */
export interface SuggestedWindow {
  readonly startMs: number
  readonly endMs: number
}

/** A time of renewal in the window: `presentMs` if it is in it, otherwise a random one (RFC 9773 §4.2). A window in the past means now. */
export function timeWithin(
  { startMs, endMs }: SuggestedWindow,
  presentMs: number | null,
  random: number,
): number {
  if (presentMs !== null && presentMs >= startMs && presentMs <= endMs) return presentMs
  return Math.round(startMs + (endMs - startMs) * random)
}

/** When to ask for the window again: as the authority says, but at least after an hour and at most after a day (RFC 9773 §4.3). */
export function nextQuestion(nowMs: number, askedMs: number | undefined): number {
  return nowMs + Math.min(24 * hourMs, Math.max(hourMs, askedMs ?? 6 * hourMs))
}
