import { languageOf, unknownLanguage } from '../../engines/languages.ts';
import { HARD_NUDITY_LABELS, SOFT_NUDITY_LABELS } from '../../engines/nudity-labels.ts';
import { type FieldProblem, InvalidError } from '../../lib/errors.ts';
import { fileUrlProblem } from '../../lib/file-url.ts';
import { type CreateAiTask, EXAMPLE_URL } from './schema.ts';
import { parseStopObjects } from './stop-objects.ts';
import type { TaskData } from './task-data.ts';

/**
 * Returns the data of a new task from a body that has passed the schema.
 * @throws InvalidError by field: url, languages, stop_objects
 */
export function taskDataOf(clientId: number, body: CreateAiTask): TaskData {
  const problems = [
    ...problemOf('url', fileUrlProblem(body.url, EXAMPLE_URL)),
    ...problemOf('audio_language', languageProblem(body.audio_language)),
    ...problemOf('subtitles_language', languageProblem(body.subtitles_language)),
    ...problemOf('stop_objects', stopObjectsProblem(body)),
  ];
  if (problems.length > 0) throw new InvalidError(problems);
  const { task_name, url, category } = body;
  return {
    task_name,
    client_id: clientId,
    url,
    ...(category !== undefined && { category }),
    ...given('audio_language', body.audio_language),
    ...given('subtitles_language', body.subtitles_language),
    ...given('stop_objects', body.stop_objects),
    ...given('client_user_id', body.client_user_id),
    ...given('client_entity_data', body.client_entity_data),
  };
}

function problemOf(field: string, message: string | undefined): FieldProblem[] {
  return message === undefined ? [] : [{ field, message }];
}

function languageProblem(code: string | null | undefined): string | undefined {
  return typeof code === 'string' && languageOf(code) === undefined ? unknownLanguage(code) : undefined;
}

function stopObjectsProblem({ category, stop_objects }: CreateAiTask): string | undefined {
  if (typeof stop_objects !== 'string') return undefined;
  const labels = category === 'soft_nudity' ? SOFT_NUDITY_LABELS : HARD_NUDITY_LABELS;
  const parsed = parseStopObjects(stop_objects, labels);
  return 'problem' in parsed ? parsed.problem : undefined;
}

function given<K extends keyof TaskData>(field: K, value: string | null | undefined) {
  return typeof value === 'string' ? { [field]: value } : {};
}
