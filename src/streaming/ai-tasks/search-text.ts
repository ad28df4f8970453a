/** Separates the values of a task, so that no search matches the end of one and the start of the next. */
const SEPARATOR = '\u001f';
/** Replaces separators inside values and searches. */
const REPLACEMENT = '\ufffd';

/**
 * Returns texts in the form in which they are compared: regardless of case, of how accents are encoded, and
 * of the Greek final sigma. Done here and not in the database, whose lower case depends on its locale.
 */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ').replaceAll(SEPARATOR, REPLACEMENT);
}

/**
 * Returns the text that searches look through: the id and every value of the task's data. The status changes,
 * and is compared separately.
 */
export function searchText(taskId: string, taskData: object): string {
  return [taskId, ...Object.values(taskData).map(String)].map(folded).join(SEPARATOR);
}
