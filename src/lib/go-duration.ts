/** Nanoseconds by unit, as in Go's `time.ParseDuration`. Both signs for micro are in use. */
const NANOSECONDS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
/** A Go duration is a signed 64-bit number of nanoseconds, about 292 years. */
const MAX_NANOSECONDS = 2n ** 63n - 1n;
const MIN_NANOSECONDS = -(2n ** 63n);
const MAX_LENGTH = 256;

/**
 * Returns the nanoseconds of a Go duration such as `1h30m`, `1.5s` or `-10ms`; undefined if Go would refuse
 * the text. A bare `0` needs no unit, every other number does; days, blanks and exponents are not allowed.
 */
export function parseGoDuration(text: string): bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return 0n;
  if (unsigned === '') return undefined;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
  let total = 0n;
  while (part.lastIndex < unsigned.length) {
    const match = part.exec(unsigned);
    if (!match) return undefined;
    total += partNanoseconds(match[1] ?? '', NANOSECONDS[match[2] ?? ''] ?? 0n);
  }
  const nanoseconds = text.startsWith('-') ? -total : total;
  return nanoseconds > MAX_NANOSECONDS || nanoseconds < MIN_NANOSECONDS ? undefined : nanoseconds;
}

/** Fractions of a nanosecond are cut off, as in Go. */
function partNanoseconds(number: string, unit: bigint): bigint {
  const [whole = '', fraction = ''] = number.split('.');
  const ofFraction = fraction === '' ? 0n : (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
  return BigInt(whole === '' ? '0' : whole) * unit + ofFraction;
}
