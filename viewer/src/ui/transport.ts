// Play, pause, step, speed and the clock.
import { number, timeFormatter } from "../format.js";
import type { Page } from "../page.js";
import { SPEEDS, type Player } from "../player.js";
import { element, iconButton, select } from "./dom.js";
import type { EventJumper } from "./events.js";

const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  back: "M11 3v10L5 8zM3 3h1.6v10H3z",
  forward: "M5 3v10l6-5zM11.4 3H13v10h-1.6z",
  previous: "M8 3v10L2 8zM14 3v10L8 8z",
  next: "M8 3v10l6-5zM2 3v10l6-5z",
  loop: "M5 4h6.5A2.5 2.5 0 0 1 14 6.5V8h-1.6V6.5a.9.9 0 0 0-.9-.9H5V8L1.5 4.8 5 1.6zM11 12H4.5A2.5 2.5 0 0 1 2 9.5V8h1.6v1.5a.9.9 0 0 0 .9.9H11V8l3.5 3.2L11 14.4z",
};

export function createTransport(root: HTMLElement, page: Page, player: Player, jumper: EventJumper): void {
  const format = timeFormatter(player.end - player.start, page.time.length);
  const play = iconButton("Play", "space", ICONS.play, () => player.setPlaying(!player.playing));
  play.classList.add("play");
  const clock = element("output", { id: "clock", "aria-label": "Time" });
  const speeds = SPEEDS.includes(player.speed) ? SPEEDS : [...SPEEDS, player.speed];
  const speed = select(
    "Speed",
    speeds.map((s) => [String(s), `${number(s)}×`]),
    (value) => player.setSpeed(Number(value)),
  );
  const loop = iconButton("Repeat", "R", ICONS.loop, () => player.setLoop(!player.loop));
  root.append(
    element(
      "div",
      { class: "buttons" },
      iconButton("Previous event", "[", ICONS.previous, () => jumper.previous()),
      iconButton("One frame back", "←", ICONS.back, () => player.stepFrames(-1)),
      play,
      iconButton("One frame forward", "→", ICONS.forward, () => player.stepFrames(1)),
      iconButton("Next event", "]", ICONS.next, () => jumper.next()),
    ),
    clock,
    element("div", { class: "rate" }, speed, loop),
  );

  let shown = "";
  const update = () => {
    clock.replaceChildren(
      `t = ${format(player.time)} `,
      element("small", {}, `of ${format(player.end)} s · frame ${player.frame + 1}/${page.time.length}`),
    );
    speed.value = String(player.speed);
    loop.setAttribute("aria-pressed", String(player.loop));
    const state = player.playing ? "Pause" : "Play";
    if (state === shown) return;
    shown = state;
    play.setAttribute("aria-label", state);
    play.title = `${state} (space)`;
    play.querySelector("path")?.setAttribute("d", player.playing ? ICONS.pause : ICONS.play);
  };
  player.onChange(update);
  update();
}
