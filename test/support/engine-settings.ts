import type { EngineSettings } from '../../engines/settings.ts';

/** The settings of a server with default configuration. */
export const DEFAULT_SETTINGS: EngineSettings = {
  searchPath: '/usr/local/bin:/usr/bin:/bin',
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffprobe',
  pocketsphinx: 'pocketsphinx_batch',
  pocketsphinxModel: '/usr/share/pocketsphinx/model/en-us',
  modelDir: null,
  minWordConfidence: 0.45,
};
