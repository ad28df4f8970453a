/** The part of the library that is used; the library has no types. */
declare module 'sherpa-onnx-node' {
  interface Waveform {
    samples: Float32Array;
    sampleRate: number;
  }

  class Vad {
    constructor(config: object, bufferSeconds: number);
    acceptWaveform(samples: Float32Array): void;
    flush(): void;
    isEmpty(): boolean;
    front(enableExternalBuffer?: boolean): { start: number; samples: Float32Array };
    pop(): void;
  }

  class OfflineStream {
    acceptWaveform(wave: Waveform): void;
  }

  class OfflineRecognizer {
    constructor(config: object);
    createStream(): OfflineStream;
    decodeAsync(
      stream: OfflineStream,
    ): Promise<{ text: string; lang?: string; tokens?: string[]; timestamps?: number[] }>;
  }

  // A CommonJS module whose exports can't be detected from outside.
  const library: { Vad: typeof Vad; OfflineRecognizer: typeof OfflineRecognizer };
  // biome-ignore lint/style/noDefaultExport: that is its form
  export default library;
}
