import { type Static, Type } from 'typebox';

/** Where the engines' programs and models are. */
export const EngineSettings = Type.Object(
  {
    /** Folders of programs, as in PATH. */
    searchPath: Type.String(),
    /** A program's name, to be found on the search path, or its absolute path. */
    ffmpeg: Type.String({ minLength: 1 }),
    ffprobe: Type.String({ minLength: 1 }),
    pocketsphinx: Type.String({ minLength: 1 }),
    /** The folder of pocketsphinx's English model. */
    pocketsphinxModel: Type.String({ minLength: 1 }),
    /** Absolute path of the folder with the operator's own models, described by its manifest.json. */
    modelDir: Type.Union([Type.String({ pattern: '^/' }), Type.Null()]),
    /** If the mean confidence of the words is lower, the speech is in a language that the model doesn't know. */
    minWordConfidence: Type.Number({ minimum: 0, maximum: 1 }),
  },
  { additionalProperties: false },
);
export type EngineSettings = Static<typeof EngineSettings>;
