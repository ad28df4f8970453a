/** The part of the library that is used; it comes without types. */
declare module 'sherpa-onnx-node' {
  interface Waveform {
    samples: Float32Array;
    sampleRate: number;
  }

  export class Vad {
    constructor(config: object, bufferSeconds: number);
    acceptWaveform(samples: Float32Array): void;
    flush(): void;
    isEmpty(): boolean;
    front(enableExternalBuffer?: boolean): { start: number; samples: Float32Array };
    pop(): void;
  }

  export class OfflineStream {
    acceptWaveform(wave: Waveform): void;
  }

  export class OfflineRecognizer {
    constructor(config: object);
    createStream(): OfflineStream;
    decodeAsync(
      stream: OfflineStream,
    ): Promise<{ text: string; lang?: string; tokens?: string[]; timestamps?: number[] }>;
  }
}
