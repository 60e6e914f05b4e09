// The picture as a video, made by the browser: WebM, thirty pictures a second, offered as a download.
import type { SceneView } from "../scene/view.js";

const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const BITS = 8_000_000; // per second

export class Video {
  private recorder: MediaRecorder | null = null;
  last: Blob | null = null; // what was recorded last, for tests

  constructor(
    private readonly view: SceneView,
    private readonly name: string,
  ) {}

  static get possible(): boolean {
    return typeof MediaRecorder !== "undefined" && TYPES.some((type) => MediaRecorder.isTypeSupported(type));
  }

  get running(): boolean {
    return this.recorder !== null;
  }

  start(): void {
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type)) ?? "video/webm";
    const recorder = new MediaRecorder(this.view.canvasStream, { mimeType, videoBitsPerSecond: BITS });
    const pieces: Blob[] = [];
    recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
    recorder.addEventListener("stop", () => this.offer(new Blob(pieces, { type: "video/webm" })));
    recorder.start(250);
    this.recorder = recorder;
    this.view.invalidate();
  }

  stop(): void {
    this.recorder?.stop();
    this.recorder = null;
  }

  private offer(video: Blob): void {
    this.last = video;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(video);
    link.download = `${this.name.replace(/[^\w-]+/g, "-").toLowerCase() || "stickslip"}.webm`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
}

// A button that records: `begin` is called before the first picture, `over` is asked after each one whether it was the last.
export function videoButton(video: Video, begin: () => void, over: () => boolean): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tool";
  button.id = "video-button";
  button.textContent = "Video";
  button.title = "Record a video, WebM (M); once more to stop";
  button.setAttribute("aria-pressed", "false");
  const end = () => {
    video.stop();
    button.setAttribute("aria-pressed", "false");
  };
  const look = () => {
    if (!video.running) return;
    if (over()) end();
    else requestAnimationFrame(look);
  };
  button.addEventListener("click", () => {
    if (video.running) {
      end();
      return;
    }
    begin();
    video.start();
    button.setAttribute("aria-pressed", "true");
    requestAnimationFrame(look);
  });
  return button;
}
