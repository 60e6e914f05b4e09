/* Changing one value in the text of a scene and leaving all else, comments included, as it is. */
#ifndef SS_BVP_SCENE_TEXT_H
#define SS_BVP_SCENE_TEXT_H

#include <stickslip/base.h>

/* section: {key: value}, in place: *text is freed and replaced. A key that is not there is added, a section that is not
 * there too. SS_ERROR_UNSUPPORTED where the old value cannot be replaced: it is no single line, or an alias. */
ss_status ss_scene_text_set(char **text, const char *section, const char *key, const char *value, ss_error *error);

#endif
