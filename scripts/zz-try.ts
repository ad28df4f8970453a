import fs from 'node:fs';
import { analysed, jobFor } from '../test/support/engines.ts';
const words=(t:string)=>t.toLowerCase().replace(/[^a-z' ]/g,' ').split(/\s+/).filter(Boolean);
function ed(a:string[],b:string[]){let r=b.map((_,i)=>i+1);a.forEach((w,i)=>{let d=i,l=i+1;r=r.map((u,c)=>{l=Math.min(d+(w===b[c]?0:1),u+1,l+1);d=u;return l})});return r.at(-1)??a.length}
const [,,media='',ref='']=process.argv;
const job=jobFor(media,{kind:'transcription'});const {result}=await analysed(job);
fs.cpSync(job.folder,media+'.job',{recursive:true});
const h=(result as {concatenated_text:string}).concatenated_text;
const a=words(fs.readFileSync(ref,'utf8')), b=words(h);
console.log(h);console.log(ed(a,b),a.length,(100*ed(a,b)/a.length).toFixed(1));
