/** Stands between the values of a task, so that no search matches the end of one and the start of the next. */
const SEPARATOR = '\u001f';
/** What a separator inside a value or a search is taken for. */
const REPLACEMENT = '\ufffd';

/**
 * The form in which texts are compared: without regard to case, to how accents are encoded, and to the
 * Greek sigma's form at the end of a word. Made here and not by the database, whose idea of small letters
 * depends on its locale.
 */
export function folded(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ').replaceAll(SEPARATOR, REPLACEMENT);
}

/** What a search looks through: the id and every value of the task's data. The status changes and is compared beside it. */
export function searchText(taskId: string, taskData: object): string {
  return [taskId, ...Object.values(taskData).map(String)].map(folded).join(SEPARATOR);
}

/** A LIKE pattern for texts that contain `text`, in which `%`, `_` and `\` stand for themselves. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
