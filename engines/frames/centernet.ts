import { loadGraphModel } from '@tensorflow/tfjs-converter';
import * as tf from '@tensorflow/tfjs-core';
import type { ObjectDetector } from '../interfaces.ts';
import { humanModel, pictureTensor, startTensors } from './tensors.ts';

/** The 80 objects of the COCO data set, in its order. */
export const COCO_LABELS: readonly string[] = (
  'person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,parking meter,' +
  'bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,frisbee,' +
  'skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,' +
  'wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,' +
  'chair,couch,potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,' +
  'toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush'
).split(',');

const SIZE = 512;
const OUTPUT = 'tower_0/detections';
/** x1, y1, x2, y2, score, label */
const ROW = 6;

/** CenterNet on MobileNetV3: detects the 80 everyday objects of COCO. */
export async function createCenterNet(): Promise<ObjectDetector> {
  await startTensors();
  const model = await loadGraphModel(humanModel('centernet'));

  return {
    form: { size: SIZE, fit: 'stretch' },
    async detect(frame) {
      const input = pictureTensor(frame, SIZE, 1);
      const output = model.execute(input, [OUTPUT]);
      const rows = Array.isArray(output) ? output[0] : output;
      if (!rows) throw new Error('The detector has no output');
      const values = await rows.data();
      tf.dispose([input, output]);
      const best = new Map<string, number>();
      for (let row = 0; row + ROW <= values.length; row += ROW) {
        const label = COCO_LABELS[Math.round(values[row + 5] ?? -1)];
        const score = values[row + 4] ?? 0;
        if (label !== undefined) best.set(label, Math.max(score, best.get(label) ?? 0));
      }
      return [...best].map(([label, confidence]) => ({ label, confidence }));
    },
  };
}
