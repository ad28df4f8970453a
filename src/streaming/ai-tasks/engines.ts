/** What the installed engines can do; the API answers from it instead of promising. */
export interface AiEngines {
  /** Whether speech of one language can become subtitles of the same or another one (bibliographic codes). */
  transcribes(audioLanguage: string, subtitlesLanguage: string): boolean;
}

/** Nothing is installed: tasks are accepted and wait. */
export const noEngines: AiEngines = { transcribes: () => false };
