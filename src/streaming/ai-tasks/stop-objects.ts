/** Ends an analysis early: at the first frame in which `label` is seen with at least this probability. */
export interface StopObject<Label extends string = string> {
  label: Label;
  /** From 0 to 1; undefined if any sighting counts. */
  probability?: number;
}

const PROBABILITY = /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/;

/**
 * Parses `OBJECT` or `OBJECT:probability`, several separated by commas, e.g. `ANUS_EXPOSED,FACE_MALE:0.50`.
 * Returns a sentence for people if the text is invalid.
 */
export function parseStopObjects<Label extends string>(
  text: string,
  labels: readonly Label[],
): StopObject<Label>[] | { problem: string } {
  const found = new Map<string, StopObject<Label>>();
  for (const part of text.split(',')) {
    const [name = '', probability, ...rest] = part.trim().split(':');
    if (name === '') return { problem: 'Must be OBJECT or OBJECT:probability, several separated by commas.' };
    const label = labels.find((known) => known === name);
    if (label === undefined) {
      return { problem: `${name} is not an object of this category; the objects are ${labels.join(', ')}.` };
    }
    if (found.has(label)) return { problem: `Names ${label} twice; name each object once.` };
    if (rest.length > 0 || (probability !== undefined && !PROBABILITY.test(probability))) {
      return { problem: `The probability of ${label} must be a number from 0 to 1, e.g. ${label}:0.50.` };
    }
    found.set(label, { label, ...(probability !== undefined && { probability: Number(probability) }) });
  }
  return [...found.values()];
}
