/** The request for a task, as stored and shown. Options that weren't given are left out. */
export interface TaskData {
  task_name: 'transcription' | 'content-moderation';
  client_id: number;
  url: string;
  category?: 'nsfw' | 'hard_nudity' | 'soft_nudity' | 'sport';
  audio_language?: string;
  subtitles_language?: string;
  stop_objects?: string;
  client_user_id?: string;
  client_entity_data?: string;
}
